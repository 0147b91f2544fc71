"""Install the lowest versions that pyproject.toml allows into a folder of their own, and try them.

All but torch: other releases than that of constraints.txt come with gigabytes of GPU packages.
"""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

PROJECT = Path(__file__).parents[2]
BOUND = re.compile(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)")


def floors():
    """The lowest version of each package that users may need, by its name."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    bundled = re.search(r"\[(.*)\]", extras["all"][0])[1].split(",")
    wanted = [*project["dependencies"], *(package for extra in bundled for package in extras[extra])]
    return dict(BOUND.fullmatch(package).groups() for package in wanted)


def main(folder):
    given = re.search(r"^torch==(.*)$", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)[1]
    lowest = floors()
    print(f"torch {given} instead of {lowest['torch']}: this floor is not tried.")
    pins = {**lowest, "torch": given}
    venv.create(folder, with_pip=True, clear=True)
    python = next(path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists())
    (folder / "pins.txt").write_text("".join(f"{name}=={version}\n" for name, version in pins.items()))
    install = ["-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", folder / "pins.txt"]
    subprocess.run([python, *install, f"{PROJECT}[all]"], check=True)
    subprocess.run([python, "-W", "error", PROJECT / "tests" / "helpers" / "smoke.py"], check=True)
    print("The lowest versions work:", ", ".join(f"{name} {version}" for name, version in pins.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
