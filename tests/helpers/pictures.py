import av
import numpy as np

from unmingle.media import open_frames


def scene(n=20, height=48, width=64, channels=()):
    """A smooth picture that moves."""
    y, x = np.mgrid[:height, :width]
    phases = np.arange(max(1, *channels, 0)) if channels else np.zeros(1)
    frames = [127 + 100 * np.sin((x[..., None] + 2 * t) / 9 + y[..., None] / 7 + phases) for t in range(n)]
    return np.rint(frames).astype(np.uint8).reshape(n, height, width, *channels)


def encode(path, frames, *, kind="gray", pix_fmt="yuv420p", codec="libx264", options=None, full=False, rotation=0):
    """A video written by PyAV alone, without losses where the codec can."""
    with av.open(path, "w") as container:
        stream = container.add_stream(codec, rate=25, options=options or {"crf": "0"})
        stream.height, stream.width = frames.shape[1:3]
        if kind == "yuv420p":
            stream.height = stream.height * 2 // 3
        stream.pix_fmt = pix_fmt
        if full:
            stream.codec_context.color_range = 2
        if rotation:
            stream.set_display_rotation(rotation)
        for pixels in frames:
            frame = av.VideoFrame.from_ndarray(pixels, format=kind)
            if full:
                frame.color_range = 2
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def read(source, **options):
    with open_frames(source, **options) as frames:
        return list(frames)
