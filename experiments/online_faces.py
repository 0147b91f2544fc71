"""Online learning on faces in the order of time; the same as ``unmingle reproduce online``.

    python experiments/online_faces.py --data FOLDER [--out FOLDER]

Five layers, windows of 100 faces that move on by 10: the exact algorithm and an encoder trained once, both with the
dictionary of the first window, against an encoder that goes on learning. Needs unmingle[train,plot,cli].
"""

import sys

from unmingle.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["reproduce", "online"]
    main()
