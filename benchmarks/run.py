"""Compare our solvers with a plain method and with other packages; write a report.

python benchmarks/run.py [--quick] [--only NAME] [--out FOLDER]
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Instead of this folder, the first on the path of a script: its folders bear names of packages (`distributed`).
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    from benchmarks._shared.command import main

    main()
