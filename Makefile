PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

ifneq ($(wildcard ../shared/data/.),)
export UNMINGLE_DATA ?= $(abspath ../shared/data)
endif

.PHONY: help demo test lint fuzz bench clean

help:
	@echo "make demo    separate a synthetic scene and write a report"
	@echo "make test    run all checks and tests"
	@echo "make lint    run the style, type and layer checks only"
	@echo "make fuzz    read thousands of spoilt files, for 15 minutes at most"
	@echo "make bench   compare speed and accuracy with other packages"
	@echo "make clean   remove .venv, caches and build results"

demo: $(VENV)/.installed-cli
	$(BIN)/unmingle demo

# One BLAS thread: test workers and paired benchmarks must not fight for the cores.
test bench: export OMP_NUM_THREADS := 1
test bench: export OPENBLAS_NUM_THREADS := 1

test: lint
	$(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist worksteal

lint: $(VENV)/.installed-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

SEED := 0
fuzz: export OMP_NUM_THREADS := 1
fuzz: export OPENBLAS_NUM_THREADS := 1

fuzz: $(VENV)/.installed-test
	$(BIN)/python tests/fuzz.py --count 5000 --seconds 900 --seed $(SEED)

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/run.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing unmingle[$*] into $(VENV); the first time takes a few minutes."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt --editable ".[$*]"
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
