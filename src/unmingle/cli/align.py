"""The command `unmingle align`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._shared import console
from ._shared.options import Json, OutlierPenalty, Quiet, RankPenalty
from ._shared.paths import ready_folder

if TYPE_CHECKING:
    from ..alignment.result import Alignment
    from ..apps.alignment import Folder


_SIZES = "The images differ in size. If what they show does too, --motion similarity aligns it better."


class Motion(StrEnum):
    """The families of `unmingle.align`."""

    TRANSLATION = "translation"
    EUCLIDEAN = "euclidean"
    SIMILARITY = "similarity"
    AFFINE = "affine"
    PROJECTIVE = "projective"


def run(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of images, of one or of several sizes.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the results.")] = Path(
        "aligned"
    ),
    motion: Annotated[Motion, typer.Option(help="How the images may differ in position.")] = Motion.TRANSLATION,
    height: Annotated[int | None, typer.Option(min=8, help="Pixels of the aligned frame; with --width.")] = None,
    width: Annotated[int | None, typer.Option(min=8, help="Pixels of the aligned frame; with --height.")] = None,
    components: Annotated[int, typer.Option(min=1, help="Largest rank allowed.")] = 8,
    starts: Annotated[
        int,
        typer.Option(min=1, max=9, help="With --model: starting places along each axis; 3 or 5 for large shifts."),
    ] = 1,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Align to this model, instead of to each other.")
    ] = None,
    rank_penalty: RankPenalty = "auto",
    outlier_penalty: OutlierPenalty = "auto",
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Align images of the same thing, and separate what all have in common from what stands out in each.

    Writes the aligned images, their low-rank parts and outliers, a table of the transformations, a page to look at, and
    the model, which aligns other images of the same thing. Coloured images are aligned by their brightness and keep
    their colours; their low-rank parts and outliers are grey.
    """
    if (height is None) != (width is None):
        raise typer.BadParameter("--height and --width belong together.")
    _check_model(model, starts, (motion, height, components, rank_penalty, outlier_penalty))
    with console.warnings_as_sentences():
        from ..apps import alignment as app
        from ..store import write_atomically

        images, target = app.read_folder(folder), ready_folder(out)
        shape = None if height is None or width is None else (height, width)
        if model is None and not quiet:
            _say_sizes(images, motion)
        with console.counter(f"Aligning {folder.name}", None, quiet=quiet) as advance:
            aligner, done = _aligned(
                images,
                model,
                {
                    "motion": motion.value,
                    "shape": shape,
                    "n_components": components,
                    "rank_penalty": rank_penalty,
                    "outlier_penalty": outlier_penalty,
                    "n_starts": starts,
                },
                advance,
            )
        written = app.write_results(images, done, target)
        if model is None:
            written["model"] = target / "aligner.safetensors"
            aligner.save(written["model"])
        written["page"] = target / "align.html"
        before = aligner.starting_parts(images.images).images
        text = app.report_page(folder.resolve().name, images, done, before, aligner.motion)
        with write_atomically(written["page"]) as aside:
            aside.write_text(text, encoding="utf-8")
    _tell(images, done, aligner, written, quiet=quiet, as_json=as_json)


def _check_model(model: Path | None, starts: int, settings: tuple[Any, ...]) -> None:
    """A model has its own settings, and without one all images start from where they are."""
    if model is None and starts != 1:
        raise typer.BadParameter("--starts goes with --model.")
    if model is not None and settings != (Motion.TRANSLATION, None, 8, "auto", "auto"):
        raise typer.BadParameter("with --model, motion, size, components and penalties are those of the model.")


def _say_sizes(images: "Folder", motion: Motion) -> None:
    fixed = motion in (Motion.TRANSLATION, Motion.EUCLIDEAN)
    if fixed and len({image.shape[:2] for image in images.images}) > 1:
        console.say_notes([_SIZES])


def _aligned(images: "Folder", model: Path | None, settings: dict[str, Any], advance: Any) -> tuple[Any, "Alignment"]:
    from .. import load
    from ..estimators.aligner import Aligner

    if model is None:
        aligner = Aligner(**settings)
        return aligner, aligner.fit_align(images.images, callback=advance)
    aligner = load(model)
    if not isinstance(aligner, Aligner):
        raise ValueError(f"{model} holds a {type(aligner).__name__}; expected an Aligner.")
    aligner.set_params(n_starts=settings["n_starts"])
    return aligner, aligner.align(images.images, callback=advance)


def _tell(
    images: "Folder", done: "Alignment", aligner: Any, written: dict[str, Path], *, quiet: bool, as_json: bool
) -> None:
    failed = {name: note for name, note in zip(images.names, done.notes, strict=True) if note} | images.unread
    good = int(done.ok.sum())
    if as_json:
        figures = {"images": len(images.names) + len(images.unread), "aligned": good, "not_aligned": failed}
        cost = float(done.cost[done.ok].mean()) if good else None
        shape = {"height": aligner.shape_[0], "width": aligner.shape_[1], "components": aligner.n_components_}
        console.print_json({**figures, **shape, "mean_cost": cost, "written": written})
        return
    for name, note in failed.items():
        console.say(note if name in note else f"{name} is not aligned. {note}")
    if not quiet:
        pairs = {
            "aligned": f"{good} of {len(images.names) + len(images.unread)} images, by {aligner.motion}",
            "frame": f"{aligner.shape_[1]} x {aligner.shape_[0]} pixels",
            "components": str(aligner.n_components_),
            "mean cost": f"{done.cost[done.ok].mean():.4g}" if good else "none",
        }
        console.show(console.facts(pairs), **written)
