"""`separate`: images in; aligned images, what they have in common and what stands out, as values and as files."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ... import load
from ...alignment.result import Alignment
from ...core.iterate import Callback
from ...estimators.aligner import Aligner
from ...store import write_atomically
from ._images import Source, SourceImages, read_source
from ._outputs import write_results
from ._report import report_page
from ._settings import Outputs, Settings

_SIZES = (
    "The images differ in size. If what they show does too, motion similarity (--motion similarity) aligns it better."
)
_KEEPS_SIZES = ("translation", "euclidean")


@dataclass(frozen=True, eq=False)
class Result:
    """Images, aligned and taken apart.

    Attributes
    ----------
    names : tuple of str
        Name of each image that was read.
    alignment : Alignment
        Matrices, aligned images, low-rank parts, outliers and costs, in the order of the names.
    aligner : Aligner
        The model, which aligns other images of the same thing.
    unread : dict of str to str
        Files that could not be read, and why.
    warnings : tuple of str
        What is worth knowing, a sentence each.
    written : dict of str to Path
        The files and folders that were written, by what they hold.
    """

    names: tuple[str, ...]
    alignment: Alignment
    aligner: Aligner
    unread: dict[str, str]
    warnings: tuple[str, ...]
    written: dict[str, Path]

    def __repr__(self) -> str:
        return f"Result({int(self.alignment.ok.sum())} of {self.n_images} images aligned)"

    @property
    def n_images(self) -> int:
        """How many images there are, with those that could not be read."""
        return len(self.names) + len(self.unread)

    @property
    def not_aligned(self) -> dict[str, str]:
        """Images that could not be read or aligned, and why."""
        return _failures(self.names, self.alignment) | self.unread

    def summary(self) -> dict[str, Any]:
        """Figures of the result, as plain values."""
        done = self.alignment
        good = int(done.ok.sum())
        return {
            "images": self.n_images,
            "aligned": good,
            "not_aligned": self.not_aligned,
            "motion": self.aligner.motion,
            "height": self.aligner.shape_[0],
            "width": self.aligner.shape_[1],
            "components": self.aligner.n_components_,
            "mean_cost": float(done.cost[done.ok].mean()) if good else None,
            "written": {name: str(path) for name, path in self.written.items()},
        }

    def summary_text(self) -> dict[str, str]:
        """The figures that people read first, in words."""
        figures = self.summary()
        cost = figures["mean_cost"]
        return {
            "aligned": f"{figures['aligned']} of {figures['images']} images, by {figures['motion']}",
            "frame": f"{figures['width']} x {figures['height']} pixels",
            "components": str(figures["components"]),
            "mean cost": "none" if cost is None else f"{cost:.4g}",
        }


def separate(
    source: Source,
    outputs: Outputs = Outputs(),  # noqa: B008 (frozen)
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    progress: Callback | None = None,
) -> Result:
    r"""Align images of the same thing, and separate what all have in common from what stands out in each.

    Transformations T_M of the images X are found together with components U, codes S and outliers O, by (12) in
    docs/paper.md::

        min 1/2 ||T_M(X) - US - O||^2 + rank_penalty/2 (||U||^2 + ||S||^2) + outlier_penalty ||O||_1

    With a model, U is the model's, and each image is aligned on its own. Cost and memory: those of `unmingle.align`.

    Parameters
    ----------
    source : path, array of shape (n, height, width) or (n, height, width, 3), or list of images
        A folder of images, or the images themselves. Coloured ones are aligned by their brightness and keep their
        colours; their low-rank parts and outliers are grey.
    outputs : Outputs
        What to write: nothing unless it names a folder.
    settings : Settings
        How to align.
    progress : callable, optional
        Called with an `unmingle.core.iterate.Progress` after each round, or each image where there is a model; a true
        answer ends the work there.

    Returns
    -------
    Result
        With ``summary()``, ``warnings``, ``written``, and the arrays in ``alignment``.

    Examples
    --------
    >>> from unmingle.apps import alignment
    >>> from unmingle.synth import displaced_faces
    >>> faces = displaced_faces(12, random_state=0).images
    >>> result = alignment.separate(faces, settings=alignment.Settings(shape=(48, 40), n_components=4))
    >>> result
    Result(12 of 12 images aligned)
    >>> result.alignment.low_rank.shape
    (12, 48, 40)
    """
    images = read_source(source)
    folder = None if outputs.folder is None else _ready_folder(outputs.folder)
    aligner, done = _align(images, settings, progress)
    failures = _failures(images.names, done) | images.unread
    warnings = [note if name in note else f"{name} is not aligned. {note}" for name, note in failures.items()]
    if settings.model is None and settings.motion in _KEEPS_SIZES and images.differ_in_size:
        warnings.insert(0, _SIZES)
    result = Result(tuple(images.names), done, aligner, images.unread, tuple(warnings), {})
    return result if folder is None else replace(result, written=_write(images, result, settings, folder))


def _align(images: SourceImages, settings: Settings, progress: Callback | None) -> tuple[Aligner, Alignment]:
    """Images aligned with each other, or to a model; and the model."""
    if settings.model is None:
        aligner = Aligner(
            settings.motion,
            shape=settings.shape,
            n_components=settings.n_components,
            rank_penalty=settings.rank_penalty,
            outlier_penalty=settings.outlier_penalty,
            n_starts=settings.n_starts,
        )
        return aligner, aligner.fit_align(images.images, callback=progress)
    aligner = copy(_model_of(settings.model)).set_params(n_starts=settings.n_starts)
    return aligner, aligner.align(images.images, callback=progress)


def _model_of(model: Any) -> Aligner:
    """The model that is given, itself or by its file."""
    found = load(model) if isinstance(model, str | PathLike) else model
    if not isinstance(found, Aligner):
        where = f"{model} holds a" if isinstance(model, str | PathLike) else "model is a"
        raise ValueError(f"{where} {type(found).__name__}; expected an Aligner.")
    return found


def _failures(names: Sequence[str], done: Alignment) -> dict[str, str]:
    """Images that could not be aligned, and why."""
    return {name: note for name, note in zip(names, done.notes, strict=True) if note}


def _ready_folder(folder: str | PathLike[str]) -> Path:
    """Make the folder, if need be, and see to it that files can be written there, before the work begins."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise ValueError(
            f"{place} is not a folder that can be written to ({error.strerror}); choose another one."
        ) from error
    return place


def _write(images: SourceImages, result: Result, settings: Settings, folder: Path) -> dict[str, Path]:
    """Pictures and table, the model if it is new, and the page."""
    aligner, done = result.aligner, result.alignment
    written = write_results(images, done, folder)
    if settings.model is None:
        written["model"] = folder / "aligner.safetensors"
        aligner.save(written["model"])
    written["page"] = folder / "align.html"
    before = aligner.starting_parts(images.images).images
    text = report_page(images, done, before, aligner.motion)
    with write_atomically(written["page"]) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return written
