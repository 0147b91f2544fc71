"""Pictures and videos to arrays and back: the only place where files of media are read and written."""

from ._arrays import IMAGE_RATE
from ._errors import IncompleteError, MediaError, SizesDifferError
from ._images import IMAGE_SUFFIXES, Images, read_image, read_images
from ._pixels import check_pixels, described
from ._places import open_frames
from ._relay import Frame
from ._source import FrameSource
from ._targets import open_writer
from ._write_files import encode_jpeg
from ._writer import FrameWriter

__all__ = [
    "IMAGE_RATE",
    "IMAGE_SUFFIXES",
    "Frame",
    "FrameSource",
    "FrameWriter",
    "Images",
    "IncompleteError",
    "MediaError",
    "SizesDifferError",
    "check_pixels",
    "described",
    "encode_jpeg",
    "open_frames",
    "open_writer",
    "read_image",
    "read_images",
]
