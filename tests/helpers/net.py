"""The results of many small jobs, to hold one tree against another, to the last bit.

    python tests/helpers/net.py write FILE.npz [JOB ...]     do the jobs (all of them) and keep their results
    python tests/helpers/net.py compare OLD.npz NEW.npz      exit code 1 if anything differs
    python tests/helpers/net.py spread [FILE.json]           write tests/files/net.json, which test_net.py reads

The jobs are those of net_matrices, net_media and net_commands, named after what is done: a tree with another interface
has other calls there, and the same names. PYTHONPATH=TREE/src says in which tree they are done; one thread does them.
`spread` does them as several processors of x86-64; run it again when results are meant to change.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

if __name__ == "__main__":
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from helpers import net_commands, net_matrices, net_media  # noqa: F401 - the jobs
from helpers.net_jobs import JOBS, missing_packages, results_of, temporary_folder

STORED = Path(__file__).parents[1] / "files" / "net.json"
OLD = {
    "OPENBLAS_CORETYPE": "Sandybridge",
    "NUMBA_CPU_NAME": "generic",
    "ATEN_CPU_CAPABILITY": "default",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
PROCESSORS = [
    {},
    OLD,
    {"OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_CORETYPE": "SkylakeX"},
    {"OPENBLAS_CORETYPE": "Zen", "NUMBA_CPU_NAME": "haswell", "ATEN_CPU_CAPABILITY": "avx2"},
]
"""Environments that let a processor pass for another; the second one is that of `make test-as-others`."""
ROOM = 10
"""A tolerance is so many times the spread over the processors."""
LEAST, LEAST_OF_WHOLE, ROUNDING = {"f8": 1e-9, "f4": 1e-5}, 1e-3, 1e-12
"""Least tolerance of floating-point numbers of this kind and of whole ones, beside their size, and of any number."""


# Keeping and comparing


def write(path, names):
    """Do jobs and keep their results; return an exit code."""
    kept = {}
    for name in names or JOBS:
        if missing := missing_packages(name):
            print(f"{name}: left out, needs {', '.join(missing)}")
            continue
        start = perf_counter()
        kept |= {f"{name}/{key}": value for key, value in results_of(name).items()}
        print(f"{name}: {perf_counter() - start:.2f} s", flush=True)
    np.savez(path, **kept)
    return 0


def read(path):
    """The results in a file, by job."""
    jobs = {}
    with np.load(path) as stored:
        for name in stored.files:
            jobs.setdefault(name.partition("/")[0], {})[name.partition("/")[2]] = stored[name]
    return jobs


def difference(old, new):
    """The first difference of two arrays in words, or None where all bits are the same."""
    if (old.dtype, old.shape) != (new.dtype, new.shape):
        return f"was {old.dtype} {old.shape}, is {new.dtype} {new.shape}"
    if old.tobytes() == new.tobytes():
        return None
    if old.dtype.kind not in "fbiu":
        return "differs"
    with np.errstate(all="ignore"):
        one, other = old.astype(np.float64), new.astype(np.float64)
        relative = np.abs(one - other) / np.maximum(np.abs(one), np.abs(other))
    return f"largest relative difference {np.nanmax(np.nan_to_num(relative, nan=0.0)):.2e}"


def compare(old_path, new_path):
    """Print one line for each job; return an exit code."""
    old, new, differing = read(old_path), read(new_path), 0
    for name in [*old, *(name for name in new if name not in old)]:
        line = "same"
        if name not in old or name not in new:
            line = f"only in {old_path if name in old else new_path}"
        elif old[name].keys() != new[name].keys():
            line = f"arrays differ: {', '.join(sorted(old[name].keys() ^ new[name].keys()))}"
        else:
            found = {key: difference(old[name][key], new[name][key]) for key in old[name]}
            line = next((f"{key} {words}" for key, words in found.items() if words), line)
        differing += line != "same"
        print(f"{name}: {line}")
    print(f"{differing} of {len(old.keys() | new.keys())} jobs differ")
    return int(differing > 0)


# Stored values


def summary(results):
    """A few numbers for each array but bytes: its norm, or count, and a sum with weights that tell places apart."""
    return {name: number for key, value in results.items() for name, (number, _) in numbers_of(key, value).items()}


def numbers_of(key, value):
    """The numbers of an array by name, each with the least that it may be off."""
    if key.endswith("_bytes"):
        return {}
    x, least = np.nan_to_num(value.astype(np.float64).ravel()), LEAST.get(value.dtype.str[1:], LEAST_OF_WHOLE)
    if value.ndim == 0:
        return {key: (float(x[0]), least * abs(float(x[0])) + ROUNDING)}
    if value.dtype.kind in "bi":
        parts = {"count": float(np.count_nonzero(x)), "total": float(x.sum())}
        return {f"{key} {name}": (number, least * abs(number)) for name, number in parts.items()}
    norm, weights = float(np.linalg.norm(x)), np.cos(np.arange(len(x), dtype=np.float64))
    parts = {"norm": norm, "sum": float(np.sum(weights * x))}
    return {f"{key} {name}": (number, least * norm + ROUNDING) for name, number in parts.items()}


def spread(path):
    """Do all jobs as each processor, and write values with tolerances; return an exit code."""
    runs = []
    with temporary_folder() as folder:
        for number, processor in enumerate(PROCESSORS):
            print(f"as {processor or 'it is'}", flush=True)
            kept = Path(folder) / f"{number}.npz"
            subprocess.run([sys.executable, __file__, "write", kept], env=os.environ | processor, check=True)
            runs.append(read(kept))
    stored = {}
    for name, results in runs[0].items():
        seen = [summary(run[name]) for run in runs]
        spreads = {key: max(one[key] for one in seen) - min(one[key] for one in seen) for key in seen[0]}
        numbers = {name: pair for key, value in results.items() for name, pair in numbers_of(key, value).items()}
        stored[name] = {key: [value, max(least, ROOM * spreads[key])] for key, (value, least) in numbers.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(values)}" for name, values in stored.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return 0


def main(words):
    match words:
        case ["write", path, *names] if set(names) <= JOBS.keys():
            return write(path, names)
        case ["compare", old, new]:
            return compare(old, new)
        case ["spread", *path] if len(path) < 2:
            return spread(Path(*path) if path else STORED)
    print(__doc__, "Jobs: " + ", ".join(JOBS), sep="\n", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
