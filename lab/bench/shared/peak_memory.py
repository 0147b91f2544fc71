"""Resident memory of work that is done in a process of its own. Needs Linux (`/proc/self/clear_refs`)."""

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .environment import ROOT
from .progress import say

RESET = Path("/proc/self/clear_refs")


def in_fresh_process(module: str, *order: object) -> Any:
    """What `measure` of a module finds for an order, both plain data; None where memory cannot be measured."""
    if not RESET.exists():
        return None
    command = [sys.executable, "-m", module, json.dumps(order)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        say(f"Memory was not measured, {module} {order}: {done.stderr.strip()}")
        return None
    return json.loads(done.stdout.splitlines()[-1])


def obey(measure: Callable[..., Any]) -> None:
    """In the fresh process: do what the command line asks for, and print what was found."""
    print(json.dumps(measure(*json.loads(sys.argv[1]))))


def baseline() -> int:
    """Bytes resident now; the peak is counted anew from here on."""
    gc.collect()
    RESET.write_text("5")
    return resident("VmRSS")


def peak() -> int:
    return resident("VmHWM")


def resident(field: str = "VmRSS") -> int:
    """Bytes of `VmRSS` (now) or `VmHWM` (peak)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
