"""Jobs of net.py: films, sound, and images that are not aligned."""

from pathlib import Path

import numpy as np
from helpers.net_jobs import bytes_of, job, temporary_folder

import unmingle
from unmingle import synth

# Films


def coloured_film(n=70, height=48, width=64):
    scene = synth.surveillance_scene(n, height, width, light="changing", random_state=0)
    tint = np.where(scene.masks[..., None], (0.6, 1.0, 1.2), (1.0, 0.85, 0.7))
    return np.rint(255 * np.clip(scene.frames[..., None] * tint, 0, 1)).astype(np.uint8)


def seen_in(found):
    """What came of all frames of a film."""
    boxes = [[one.index, *box] for one in found for box in one.boxes]
    return {
        "masks": np.stack([one.mask for one in found]),
        "backgrounds": np.stack([one.background for one in found]),
        "boxes": np.array(boxes).reshape(-1, 6),
        "scores": [one.score for one in found],
        "states": [["starting", "watching", "adapting", "moving", "frozen"].index(one.state) for one in found],
    }


@job()
def coloured_film_frame_by_frame():
    from unmingle.apps import video

    stream = video.Stream()
    found = seen_in([stream.push(frame) for frame in coloured_film()])
    last = coloured_film()[40]
    return found | {"once_more": stream.inspect(last).background, "frozen": stream.freeze().push(last).mask}


@job()
def grey_film_of_a_shaking_camera():
    from unmingle.apps import video

    frames = synth.shaking_scene(60, 60, 80, random_state=0).frames
    stream = video.Stream(stabilise="translation")
    return seen_in([stream.push(frame) for frame in np.rint(255 * frames).astype(np.uint8)])


@job()
def film_with_known_foreground():
    from unmingle.apps import video

    scene = synth.surveillance_scene(50, 48, 64, random_state=1)
    stream = video.Stream(encoder="exact", n_components=3, min_area=10, shadows=True, random_state=0)
    frames = zip(scene.frames.astype(np.float32), scene.masks, strict=True)
    return seen_in([stream.push(frame, known_foreground=mask) for frame, mask in frames])


@job()
def film_saved_and_gone_on_with():
    from unmingle.apps import video

    frames, stream = coloured_film(), video.Stream(start_size=20)
    for frame in frames[:45]:
        stream.push(frame)
    with temporary_folder() as folder:
        stream.save(Path(folder) / "stream.safetensors")
        stream = unmingle.load(Path(folder) / "stream.safetensors")
    return seen_in([stream.push(frame) for frame in frames[45:]])


@job()
def film_with_a_light_switch_and_a_camera_that_moves():
    frames = coloured_film(130)
    frames[50:] = np.rint(0.6 * frames[50:])
    frames[85:] = np.roll(frames[85:], 20, axis=2)
    return changing(frames)


@job()
def film_of_a_scene_that_changes_at_once():
    frames = coloured_film(110)
    frames[45:] = np.rint(0.6 * frames[45:])
    frames[60:, 8:40] = np.random.default_rng(0).integers(0, 256, (32, 64, 3))
    return changing(frames)


def changing(frames):
    from unmingle.apps import video

    stream = video.Stream(patience=30, smoothing=5, random_state=0)
    found = seen_in([stream.push(frame) for frame in frames])
    return found | {"jumps": stream.card_["scene_jumps"], "moves": stream.card_["camera_moves"]}


@job()
def region_of_a_film():
    from unmingle.apps import video

    region = np.zeros((48, 64), dtype=bool)
    region[10:40, 5:50] = True
    stream = video.Stream(region=region, pixel_share=0.3, n_layers=3, start_size=25, random_state=0)
    return seen_in([stream.push(frame) for frame in coloured_film()[..., 0]])


def film_of_visits():
    """Noise, and a square that crosses it twice."""
    frames = np.clip(120 + 3 * np.random.default_rng(0).standard_normal((90, 48, 64)), 0, 255)
    for number in [*range(40, 52), *range(70, 84)]:
        left = 5 + 4 * (number % 10)
        frames[number, 10:22, left : left + 10] = 250
    return frames.astype(np.uint8)


@job()
def events_of_a_film():
    from unmingle.apps import video

    with temporary_folder() as folder:
        files = {name: Path(folder) / f"{name}.csv" for name in ("events", "boxes")}
        pictures = {name: Path(folder) / f"{name}.npz" for name in ("mask", "background", "foreground")}
        outputs = video.Outputs(**files, **pictures)
        watched = video.separate(film_of_visits(), outputs, video.Settings(event_gap=0.2))
        tables = {f"{name}_bytes": bytes_of(path) for name, path in files.items()}
        films = {name: np.load(path)["frames"] for name, path in pictures.items()}
    rows = [[e.start, e.end, e.first_frame, e.last_frame, e.peak_share, e.left, e.top] for e in watched.events]
    return {"rows": rows} | tables | films


# Sound


def stems_of(stems):
    return {"voice": stems.voice, "music": stems.music}


def song_by(method, seconds, **options):
    from unmingle.apps import audio

    song = synth.song(4.0, random_state=0)
    sound = song.mixture[: round(seconds * song.rate)]
    return stems_of(audio.split(sound, song.rate, method=method, **options))


@job()
def song_by_the_shipped_network():
    return song_by("voice", 4.0)


@job()
def song_by_nonnegative_factors():
    return song_by("nmf", 3.0)


@job()
def song_by_pursuit():
    return song_by("pcp", 1.5)


@job()
def song_that_adapts():
    return song_by("adapt", 3.0, no_voice=(0.0, 1.0))


def live(method, rate=16000, channels=1, **options):
    """A stream that gets blocks of odd sizes, and a passage of music first where it learns from one."""
    from unmingle.apps import audio

    song = synth.song(4.0, rate, random_state=1)
    sound = song.mixture.astype(np.float32)
    sound = sound if channels == 1 else np.stack([sound, 0.7 * np.roll(sound, 9)], axis=1)
    stream = audio.Stream(rate, method=method, channels=channels, **options)
    if method == "adapt":
        stream.learn_music(song.music.astype(np.float32)[:rate])
    blocks = np.split(sound, np.cumsum([1024, 1, 3000, 700, 5000, 12345]))
    found = [*(stream.push(block) for block in blocks), stream.flush()]
    return {name: np.concatenate([getattr(one, name) for one in found]) for name in ("voice", "music")}


@job()
def live_sound_by_the_shipped_network():
    return live("voice", 22050, channels=2) | {f"quick_{k}": v for k, v in live("voice", low_latency=True).items()}


@job()
def live_sound_that_adapts():
    return live("adapt")


# Images that are not aligned


def aligned(done):
    return {name: getattr(done, name) for name in ("matrices", "images", "low_rank", "outliers", "cost", "ok")}


@job()
def faces_aligned():
    faces = synth.displaced_faces(16, turn=6.0, random_state=0).images
    return aligned(unmingle.align(faces, "euclidean", shape=(48, 40), n_components=4))


@job()
def new_faces_aligned():
    model = unmingle.Aligner(shape=(48, 40), n_components=4).fit(synth.displaced_faces(20, random_state=0).images)
    new = synth.displaced_faces(10, covered=0.4, random_state=1).images
    return aligned(model.align(new)) | {"pixels": model.transform(new)}
