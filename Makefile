PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo docs test test-as-others lint floors fuzz bench clean

help:
	@echo "make demo    separate a made film, table and song; write a page and files to try"
	@echo "make docs    build the documentation, build/docs/index.html"
	@echo "make test    run all checks and tests"
	@echo "make floors  try the lowest versions of all packages that pyproject.toml allows"
	@echo "make lint    run the style, type and layer checks only"
	@echo "make fuzz    try thousands of damaged files and odd tables, for MINUTES=15 at most"
	@echo "make bench   compare speed and accuracy with other packages"
	@echo "make clean   remove .venv, caches and build results"

demo: $(VENV)/.installed-cli,media,table
	$(BIN)/unmingle demo

docs: export OMP_NUM_THREADS := 1
docs: $(VENV)/.installed-docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --builder html docs build/docs
	@echo "Documentation: build/docs/index.html"

# One BLAS thread: test workers and paired benchmarks must not fight for the cores.
test test-as-others bench: export OMP_NUM_THREADS := 1
test test-as-others bench: export OPENBLAS_NUM_THREADS := 1

PYTEST := $(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist worksteal

test: lint
	$(PYTEST)
	@$(MAKE) --no-print-directory test-as-others

# Numbers must be right on every processor. Those of x86-64 can pass for each other: the numerical tests run as an old
# one, without AVX2 and FMA, and as one that adds up in other orders than most. All tests but those named are numerical.
NOT_NUMERICAL := __pycache__ cli lab media report web $(addprefix test_,$(addsuffix .py, \
	api_surface distributed examples house imports leftovers store))
NUMERICAL := $(filter-out $(addprefix tests/,$(NOT_NUMERICAL)),$(patsubst %/,%,$(wildcard tests/*/ tests/test_*.py)))
OLD := OPENBLAS_CORETYPE=Sandybridge NUMBA_CPU_NAME=generic ATEN_CPU_CAPABILITY=default \
	NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR"
NEW = OPENBLAS_CORETYPE=$(if $(shell grep -m 1 -o avx512f /proc/cpuinfo),SkylakeX,Haswell)

test-as-others: $(VENV)/.installed-test
ifeq ($(shell uname -sm),Linux x86_64)
	$(OLD) $(PYTEST) -W "ignore:During parsing environment variable:ImportWarning" $(NUMERICAL)
	$(NEW) $(PYTEST) $(NUMERICAL)
endif

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

floors:
	$(PYTHON) tests/helpers/floors.py .venv-floors

SEED := 0
MINUTES := 15
fuzz: export OMP_NUM_THREADS := 1
fuzz: export OPENBLAS_NUM_THREADS := 1

fuzz: $(VENV)/.installed-test
	$(BIN)/python tests/helpers/fuzz.py --count 5000 --minutes $(MINUTES) --seed $(SEED)

bench: $(VENV)/.installed-bench
	$(BIN)/python -m lab bench

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing unmingle[$*] into $(VENV); the first time takes a few minutes."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) .venv-floors build dist docs/generated .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
