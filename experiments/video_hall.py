"""The figure of the paper on video, and masks of films; the same as ``unmingle reproduce video``.

    python experiments/video_hall.py --data FOLDER [--out FOLDER]

Hall at 88x72 by principal component pursuit, exactly, and by five layers; masks of CDnet's highway and of three made
scenes against those of OpenCV, where it is installed; lamps that are switched in Lobby. Needs
unmingle[train,plot,cli].
"""

import sys

from unmingle.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["reproduce", "video"]
    main()
