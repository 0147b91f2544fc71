"""Frames to folders of images and to arrays in files."""

import zipfile
from contextlib import suppress
from fractions import Fraction
from io import BytesIO

import numpy as np

from .._atomic_files import hold
from .._validation import require
from ._files import check_parent_folder, move_into_place, temporary_path
from ._frame_writer import FrameWriter, Kept
from .errors import MediaError
from .pixels import Pixels, to_bytes


class FolderWriter(FrameWriter):
    """A folder of images frame_000001.png, frame_000002.png and so on, each whole or not there."""

    def _open(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise MediaError(
                f"{self.path} cannot be written: it is a file; give it another name, or one with a suffix."
            )
        if not self.path.exists():
            check_parent_folder(self.path)
        self._is_new = not self.path.exists()
        self.path.mkdir(exist_ok=True)
        self._lock = self.path / ".unmingle.partial"
        self._claim = hold(self._lock)
        for left in self.path.glob(".frame_*.png.partial"):  # by a run that was killed
            left.unlink(missing_ok=True)
        if any(entry != self._lock for entry in self.path.iterdir()):
            self._lock.unlink()
            raise MediaError(f"{self.path} is not empty; name another folder for the images.")

    def _begin(self, first: Pixels) -> None:
        require("PIL.Image", "media")

    def _add(self, pixels: Pixels, time: float) -> None:
        path = self.path / f"frame_{self.n_written + 1:06d}.png"
        written = temporary_path(path)
        try:
            written.write_bytes(_encode_png(pixels))
            written.replace(path)
        finally:
            with suppress(OSError):
                written.unlink(missing_ok=True)

    def _finish(self) -> None:
        self._lock.unlink(missing_ok=True)

    def _discard(self) -> None:
        self._finish()
        if self._is_new:
            self.path.rmdir()

    def _salvage(self) -> Kept | None:
        with suppress(OSError):
            if self.n_written:
                self._finish()
            else:
                self._discard()
        return Kept(self.path, self.n_written) if self.n_written else None


def _encode_png(pixels: Pixels) -> bytes:
    if pixels.dtype == np.uint16 and pixels.ndim == 3:
        return _encode_wide_png(pixels)
    content = BytesIO()
    kept = pixels if pixels.dtype == np.uint16 else to_bytes(pixels)
    require("PIL.Image", "media").fromarray(kept).save(content, "PNG", compress_level=3)
    return content.getvalue()


def _encode_wide_png(pixels: Pixels) -> bytes:
    """Colours of 16 bits, which Pillow cannot write."""
    av = require("av", "media")
    coder = av.CodecContext.create("png", "w")
    coder.height, coder.width = pixels.shape[:2]
    coder.pix_fmt, coder.time_base = "rgb48be", Fraction(1, 25)
    frame = av.VideoFrame.from_ndarray(pixels, format="rgb48be")
    return b"".join(bytes(packet) for packet in [*coder.encode(frame), *coder.encode(None)])


class ArrayWriter(FrameWriter):
    """The arrays "frames" and "times" in a compressed .npz file; memory does not grow with the number of frames.

    Frames are kept in a temporary .npy file until the writer is closed, which compresses it; if there is no room for
    that, the .npy file is kept.
    """

    def _open(self) -> None:
        check_parent_folder(self.path)
        self._rows_path, self._temporary = temporary_path(self.path, "rows"), temporary_path(self.path)
        self._claim = hold(self._temporary)
        self._rows = self._rows_path.open("wb", buffering=0)
        self._times: list[float] = []

    def _begin(self, first: Pixels) -> None:
        self._shape, self._dtype = first.shape, first.dtype
        self._append(self._header(0))

    def _add(self, pixels: Pixels, time: float) -> None:
        self._append(pixels.reshape(-1).view(np.uint8).data)
        self._times.append(time)

    def _append(self, content: bytes | memoryview) -> None:
        left = memoryview(content)
        while left:
            left = left[self._rows.write(left) :]

    def _header(self, n: int) -> bytes:
        """The start of a .npy file, of the same length for any number of frames."""
        start = BytesIO()
        kind = np.lib.format.dtype_to_descr(self._dtype)
        np.lib.format.write_array_header_1_0(start, {"descr": kind, "fortran_order": False, "shape": (n, *self._shape)})
        return start.getvalue()

    def _finish(self) -> None:
        self._complete_rows()
        try:
            with zipfile.ZipFile(self._temporary, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(self._rows_path, "frames.npy")
                with archive.open("times.npy", "w") as member:
                    np.lib.format.write_array(member, np.array(self._times), allow_pickle=False)
            move_into_place(self._temporary, self.path)
        finally:
            with suppress(OSError):
                self._temporary.unlink(missing_ok=True)
        self._rows_path.unlink()

    def _complete_rows(self) -> None:
        """Say at the start of the rows how many there are, and drop what follows the last whole one."""
        if not self._rows.closed:
            start = self._header(len(self._times))
            self._rows.truncate(len(start) + len(self._times) * int(np.prod(self._shape)) * self._dtype.itemsize)
            self._rows.seek(0)
            self._append(start)
            self._rows.close()

    def _discard(self) -> None:
        self._rows.close()
        self._rows_path.unlink(missing_ok=True)
        self._temporary.unlink(missing_ok=True)

    def _salvage(self) -> Kept | None:
        with suppress(OSError):
            if self._times and not self.path.exists():
                self._finish()  # compressed, what is there may still fit
                return Kept(self.path, len(self._times))
        with suppress(OSError):
            if self._times:
                self._complete_rows()
                self._temporary.unlink(missing_ok=True)
                return Kept(self._rows_path.replace(self.path.with_suffix(".partial.npy")), len(self._times))
        with suppress(OSError):
            self._discard()
        return None
