"""Table 1 of the paper on three sets of faces; the same as ``unmingle reproduce table1``.

    python experiments/table1_faces.py --data FOLDER [--out FOLDER]

Trains 120 encoders: depths 1, 2, 5, 10 by five ways of training, on Frey, ORL and Yale faces, split at random and by
person or time. Needs unmingle[train,plot,cli].
"""

import sys

from unmingle.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["reproduce", "table1"]
    main()
