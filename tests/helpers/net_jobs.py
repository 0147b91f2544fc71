"""The jobs of net.py by name, and what they share.

A job is a function without arguments that returns arrays and numbers by name. Jobs are named after what is done, not
after what they call; their names, and those of their arrays, stay when what they call gets another name. Arrays that
end in "_bytes" are whole files.
"""

import importlib.util
import tempfile
import warnings

import numpy as np

JOBS, PACKAGES = {}, {}


def job(*packages):
    """A job, and the optional packages that it takes."""

    def register(function):
        JOBS[function.__name__], PACKAGES[function.__name__] = function, packages
        return function

    return register


def missing_packages(name):
    return [package for package in PACKAGES[name] if importlib.util.find_spec(package) is None]


def results_of(name):
    """The arrays that a job results in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {key: np.asarray(value) for key, value in JOBS[name]().items()}


def bytes_of(path):
    return np.frombuffer(path.read_bytes(), np.uint8)


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix="net-", ignore_cleanup_errors=True)
