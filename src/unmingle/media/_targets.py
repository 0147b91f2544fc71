"""Places that frames go to, by their suffix."""

from os import PathLike, fspath
from pathlib import Path

from .._validation import check_positive
from ._errors import MediaError
from ._write_files import ArrayWriter, FolderWriter
from ._write_video import FORMATS, VideoWriter
from ._writer import FrameWriter


def open_writer(path: str | PathLike[str], *, rate: float | None = None) -> FrameWriter:
    """Open a file or folder to write frames to, by its suffix.

    Parameters
    ----------
    path : path
        .mp4, .m4v, .mov or .mkv for a video of H.264, whose size is made even by repeating the edge; .npz for the
        compressed arrays "frames" and "times"; without a suffix, a new or empty folder for images frame_000001.png,
        frame_000002.png and so on.
    rate : float, optional
        Frames in a second, for frames that are written without their time; 25 by default.

    Returns
    -------
    FrameWriter
        To be closed, or used in a with statement.

    Raises
    ------
    MediaError
        There is no such kind of file, or it cannot be written.
    """
    target = Path(fspath(path))
    if rate is not None:
        check_positive(rate, "rate")
    suffix = target.suffix.lower()
    if suffix in FORMATS:
        return VideoWriter(target, rate)
    if suffix == ".npz":
        return ArrayWriter(target, rate)
    if not suffix:
        return FolderWriter(target, rate)
    kinds = ", ".join(sorted(FORMATS))
    raise MediaError(
        f"{target} cannot be written: videos are {kinds}, arrays .npz; a name without a suffix is a folder of images."
    )
