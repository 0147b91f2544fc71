"""Watch a camera
=================

Watch a place through a camera: who passes, when, and what the place looks like without them.

Run it with ``python examples/watch_a_camera.py [FOLDER]``; with a folder, a picture of the last frame is written there
(needs ``pip install pillow``).
"""

import sys
from pathlib import Path

from unmingle.apps.video import Stream
from unmingle.metrics import MaskCounts
from unmingle.synth import crowd_scene

# Any source of frames would do, such as unmingle.media.open_frames("rtsp://..."); this one knows the truth.
scene = crowd_scene(150, 120, 160, n_people=12, random_state=4)

stream = Stream()
counts = MaskCounts()
for number, frame in enumerate(scene.frames):
    found = stream.push(frame, time=number / 15)
    if found.state == "starting":
        continue
    counts += MaskCounts.of(found.mask, scene.masks[number])
    if number % 30 == 0:
        print(f"{found.time:5.1f} s: {len(found.boxes)} regions, {100 * found.score:4.1f} % of the picture")

print("\nprecision {:.2f}, recall {:.2f}, F {:.2f} over all frames".format(*counts.f_measure))
card = stream.card_
print(f"rank {card['rank']} of {card['components']}, noise {card['noise']:.1f} of 255 steps")

# The scene without people: how far from the truth?
error = abs(found.background - scene.background[-1])
print(f"background: off by {255 * error.mean():.1f} steps on average")

if len(sys.argv) > 1:
    from unmingle.report.pictures import judged_mask, png, titled_sheet

    columns = {
        "camera": [scene.frames[-1]],
        "background": [found.background],
        "who is there": [judged_mask(found.mask, scene.masks[-1])],
    }
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "street.png").write_bytes(png(titled_sheet(columns)))
    print("look at street.png: white is right, orange a false alarm, blue a miss")
