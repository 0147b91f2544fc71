"""The command `unmingle apply`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import align, audio, video
from ._shared import console
from ._shared.options import Json, Quiet
from ._shared.paths import ready_folder, ready_outputs
from ._shared.table_options import Decimal, Fill, Header, Replace, Sheet
from .train import Size

if TYPE_CHECKING:
    from ..apps.tables import AppliedTable

_MOST_PRINTED = 10
_UNTESTED = "unmingle fit TABLE writes a model that knows the noise of each column."


def run(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            help="A model file, or voice or phone, which come with unmingle.",
        ),
    ],
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="What the model is for: a table, a folder of images, a film, songs.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Folder for the results.")] = Path("applied"),
    report: Annotated[bool, typer.Option("--report", help="Write a page with pictures.")] = False,
    fill: Fill = True,
    replace: Replace = True,
    sheet: Sheet = None,
    header: Header = None,
    decimal: Decimal = None,
    size: Size = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Apply a saved model to new data; the model learns nothing from them.

    A table is cleaned, its outliers are listed, and every row gets codes and a score, larger for more normal rows;
    columns are matched by their names. Films, songs and images are separated; a model from
    `unmingle align` also aligns the images.

    unmingle apply readings.safetensors may.csv -o may

    unmingle apply street.safetensors street.mp4 -o street
    """
    from ..store import peek
    from ._shared.models import path_of

    path = path_of(model)
    kind = peek(path).kind
    shared: dict[str, Any] = {"quiet": quiet, "as_json": as_json}
    if kind == "VideoStream":
        _film(path, data, out, report=report, **shared)
    elif kind == "Aligner":
        _refuse_file(path, data, "a model of images to align; DATA must be a folder of images")
        align.run(data, out=out, model=path, **shared)
    elif kind in ("AudioStream", "VoiceModel") or _is_sound(data):
        from ..apps.audio import Outputs, Settings

        outputs = Outputs(out, report=report)
        audio.run_audio(sources=[data], outputs=outputs, settings=Settings(), model=path, **shared)
    elif kind == "SequenceEncoder":
        raise ValueError(f"{path} holds a network for sequences, without what makes numbers of its data; use Python.")
    elif data.is_dir() and data.suffix.lower() != ".zarr":
        if report:
            raise typer.BadParameter("--report is for tables, films and songs; images get no page.")
        _pictures(path, data, out, size, **shared)
    else:
        if size is not None:
            raise typer.BadParameter(f"--size is for a folder of images; {data} is not one.")
        reading = {"sheet": sheet, "header": header, "decimal": decimal}
        _table(path, data, out, reading, {"fill": fill, "replace": replace}, report=report, **shared)


def _is_sound(data: Path) -> bool:
    from ..media.sounds import SOUND_SUFFIXES

    return data.suffix.lower() in SOUND_SUFFIXES


def _refuse_file(model: Path, data: Path, what: str) -> None:
    if data.is_file():
        raise ValueError(f"{model} holds {what}, but {data} is a file.")


def _film(model: Path, data: Path, out: Path, *, report: bool, **shared: Any) -> None:
    if not data.exists():
        raise ValueError(f"{data} does not exist.")
    folder = ready_folder(out, "-o")
    films: dict[str, Any] = {name: folder / f"{name}.mp4" for name in ("background", "foreground", "mask")}
    page = folder / "report.html" if report else None
    video.run(str(data), **films, events=folder / "events.csv", report=page, model=model, freeze=True, **shared)


def _loaded(path: Path) -> Any:
    """The model in a file, or its encoder, if it separates samples."""
    from .. import load
    from ..core.encoder.encoder import Encoder

    model = load(path)
    if not (isinstance(model, Encoder) or hasattr(model, "decompose")):
        raise ValueError(f"{path} holds a {type(model).__name__}, which cannot be applied to data by this command.")
    return model


def _table(
    path: Path, data: Path, out: Path, reading: dict[str, Any], wanted: dict[str, bool], *, report: bool, quiet: bool,
    as_json: bool,
) -> None:  # fmt: skip
    with console.progress(f"Applying {path.name}", quiet=quiet), console.warnings_as_sentences():
        from ..apps import tables

        model = _loaded(path)
        table = tables.read_for(model, data, **reading)
        if not quiet:
            console.say_notes(table.notes)
        rows = ("codes", "scores") if hasattr(model, "score_samples") else ("codes",)
        places = tables.places_for(data, out, table.form, report=report, rows=rows)
        ready_outputs({f"--out ({name})": place for name, place in places.items()}, {"DATA": data, "MODEL": path})
        columns = table.columns if table.named else getattr(model, "feature_names_in_", None)
        done = tables.apply_model(model, table.values, columns=columns)
        if not done.tested and not quiet:
            console.say_notes([f"Cells more than {tables.FAR:g} standard deviations away are listed; {_UNTESTED}"])
        cleaned = tables.clean(table, done.low_rank, done.flags, **wanted)
        cells = tables.outlier_rows(table, done)
        tables.write_results(table, done, cleaned, cells, places, name=data.name)
        tables.write_row_results(table.rows, table.form, done, places)
    if as_json:
        told = {"filled": cleaned.filled, "replaced": cleaned.replaced, "notes": table.notes}
        strongest = cells[:_MOST_PRINTED]
        console.print_json(
            {"model": path, "data": data, **done.card_, **told, "strongest_outliers": strongest, "written": places}
        )
    elif not quiet:
        size = f"{done.card_['rows']} x {done.card_['columns']}, {done.card_['missing']} missing"
        changed = f"{cleaned.filled} gaps filled, {cleaned.replaced} outliers replaced"
        facts = {"table": size, "outliers": f"{done.card_['flagged']} of the cells", "cleaned": changed}
        parts: list[Any] = [console.facts({**facts, **_rows_in_words(done)})]
        console.show(*parts, *console.outlier_table(cells[:_MOST_PRINTED]), **places)


def _pictures(path: Path, data: Path, out: Path, size: Any, *, quiet: bool, as_json: bool) -> None:
    with console.progress(f"Applying {path.name}", quiet=quiet), console.warnings_as_sentences():
        from ..apps import tables

        model = _loaded(path)
        pictures = tables.read_pictures(data, tables.n_features(model), size)
        done = tables.apply_model(model, pictures.values)
        written = tables.write_pictures(pictures, done, ready_folder(out, "-o"))
    height, width = pictures.size
    count = len(pictures.names)
    if as_json:
        figures = {"images": count, "height": height, "width": width, "components": done.part.rank}
        console.print_json({"model": path, "data": data, **figures, "written": written})
    elif not quiet:
        facts = {"images": f"{count} of {height} x {width} pixels", "components": str(done.part.rank)}
        console.show(console.facts({**facts, **_rows_in_words(done)}), **written)


def _rows_in_words(done: "AppliedTable") -> dict[str, str]:
    return {} if done.strange is None else {"strange rows": f"{int(done.strange.sum())} of {len(done.strange)}"}
