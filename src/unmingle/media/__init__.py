"""Pictures, videos and sounds to arrays and back: the only place where files of media are read and written."""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from ._frame_writer import FrameWriter as FrameWriter
    from ._sources_and_sinks import open_frames as open_frames
    from ._sources_and_sinks import open_writer as open_writer
    from ._stems import StemWriter as StemWriter
    from .errors import IncompleteError as IncompleteError
    from .errors import MediaError as MediaError
    from .frames import Frame as Frame
    from .frames import FrameSource as FrameSource
    from .images import read_image as read_image
    from .images import read_images as read_images
    from .planes import Planes as Planes
    from .sounds import SoundSource as SoundSource
    from .sounds import open_sound as open_sound
    from .sounds import read_sound as read_sound
    from .write_sound import SoundWriter as SoundWriter

__all__ = [
    "Frame",
    "FrameSource",
    "FrameWriter",
    "IncompleteError",
    "MediaError",
    "Planes",
    "SoundSource",
    "SoundWriter",
    "StemWriter",
    "open_frames",
    "open_sound",
    "open_writer",
    "read_image",
    "read_images",
    "read_sound",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Frame": "frames",
        "FrameSource": "frames",
        "FrameWriter": "_frame_writer",
        "IncompleteError": "errors",
        "MediaError": "errors",
        "Planes": "planes",
        "SoundSource": "sounds",
        "SoundWriter": "write_sound",
        "StemWriter": "_stems",
        "open_frames": "_sources_and_sinks",
        "open_sound": "sounds",
        "open_writer": "_sources_and_sinks",
        "read_image": "images",
        "read_images": "images",
        "read_sound": "sounds",
    },
)
