"""Pictures, videos and sounds to arrays and back: the only place where files of media are read and written."""

from ._arrays import IMAGE_RATE
from ._errors import IncompleteError, MediaError, SizesDifferError
from ._images import IMAGE_SUFFIXES, Images, image_paths, read_image, read_images, read_pixels
from ._pixels import check_pixels, described, to_grey
from ._places import open_frames
from ._planes import BLUE, RED, Planes, middle_of
from ._relay import Frame
from ._sound import SOUND_SUFFIXES, Sound, SoundSource, open_sound, read_sound, sound_paths
from ._source import FrameSource
from ._stems import StemWriter
from ._targets import open_writer
from ._write_files import encode_jpeg
from ._write_sound import SoundWriter, encode_sound
from ._writer import FrameWriter
from ._writing_thread import WritingThread

__all__ = [
    "BLUE",
    "IMAGE_RATE",
    "IMAGE_SUFFIXES",
    "RED",
    "SOUND_SUFFIXES",
    "Frame",
    "FrameSource",
    "FrameWriter",
    "Images",
    "IncompleteError",
    "MediaError",
    "Planes",
    "SizesDifferError",
    "Sound",
    "SoundSource",
    "SoundWriter",
    "StemWriter",
    "WritingThread",
    "check_pixels",
    "described",
    "encode_jpeg",
    "encode_sound",
    "image_paths",
    "middle_of",
    "open_frames",
    "open_sound",
    "open_writer",
    "read_image",
    "read_images",
    "read_pixels",
    "read_sound",
    "sound_paths",
    "to_grey",
]
