"""One thread, and the facts a reader of the report needs about where it was made."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("unmingle", "numpy", "scipy", "numba", "scikit-learn", "pyrpca", "tensorly", "sporco", "hyperspy")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def pin_threads() -> None:
    """One thread for everything; to be called before numpy is imported."""
    if "numpy" in sys.modules:
        raise RuntimeError("numpy was imported before its threads were pinned.")
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))


def package_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def facts(command: str) -> dict[str, object]:
    """Machine, load, versions, command and time, as plain data."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "source": _source(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {_memory()}, {platform.system()}",
        "load_average_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "packages": {name: package_version(name) for name in PACKAGES},
    }


def thread_pools() -> list[str]:
    """Every thread pool found in the process, with its size; more than one thread is refused."""
    from threadpoolctl import threadpool_info

    pools = threadpool_info()
    if any(pool["num_threads"] != 1 for pool in pools):
        raise RuntimeError(f"A thread pool has more than one thread: {pools}")
    return sorted({f"{pool['internal_api']} {pool['version'] or ''}".strip() for pool in pools})


def _source() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    changed = git("status", "--porcelain", "--", "src")
    return (git("rev-parse", "--short", "HEAD") or "no repository") + (" with local changes in src" if changed else "")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
