"""Saved models of any kind: where they are, how their encoders are built, and their encoders as ONNX files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import load, store
from .._validation import is_installed, require
from ..core.encoder.description import departure, describe
from ..core.encoder.encoder import Encoder
from ..core.encoder.sequence import SequenceEncoder

DEFAULT_LAYERS = {"signed": 20, "nonnegative": 500}
"""Passes of Algorithm 1 after which 95 % of the samples of synthetic data, rank 2 to 10, have gaps below 1e-4."""


class ModelEncoder(NamedTuple):
    """A model with an encoder: its own one, or Algorithm 1 with its components."""

    kind: str
    model: Any
    encoder: Any
    """An `Encoder` or a `SequenceEncoder`."""
    is_made: bool


def model_path(model: Path) -> Path:
    """The file of a model, which may also go by a name that unmingle knows."""
    from .audio.networks import path_of_shipped
    from .audio.settings import SHIPPED

    return path_of_shipped(model.name) if str(model) in SHIPPED and not model.exists() else model


def load_encoder(path: Path, n_layers: int | None) -> ModelEncoder:
    """Load a model and its encoder; if it has none, make one of ``n_layers`` layers from its components."""
    model = load(path)
    kind, own = type(model).__name__, getattr(model, "encoder_", model)
    if isinstance(own, Encoder | SequenceEncoder):
        if n_layers is not None:
            raise ValueError(
                f"--layers is for models without an encoder; the encoder in {path} has {own.n_layers} layers."
            )
        return ModelEncoder(kind, model, own, False)
    names = ("components_", "rank_penalty_", "outlier_penalty_")
    components, rank_penalty, outlier_penalty = (getattr(model, name, None) for name in names)
    if components is None or rank_penalty is None or outlier_penalty is None:
        raise ValueError(f"{path} holds a {kind}, which has neither an encoder nor components: it cannot be exported.")
    if not len(components):
        raise ValueError(f"{path} holds a {kind} without components: there is nothing to export.")
    nonnegative = bool(getattr(model, "nonnegative", False))
    made = Encoder.from_components(
        components,
        rank_penalty=float(rank_penalty),
        outlier_penalty=outlier_penalty,
        n_layers=n_layers or DEFAULT_LAYERS["nonnegative" if nonnegative else "signed"],
        nonnegative_codes=nonnegative,
        nonnegative_outliers=nonnegative,
    )
    return ModelEncoder(kind, made, made, True)


def export_encoder(loaded: ModelEncoder, out: Path, *, warm_start: bool, input_scale: float = 1.0) -> dict[str, Any]:
    """Write the ONNX file, keep it only if it gives the answers of the encoder, and return the results in numbers."""
    onnx = require("unmingle.export", "onnx")
    with store.write_atomically(out) as temporary:
        onnx.to_onnx(loaded.model, temporary, warm_start=warm_start, input_scale=input_scale)
        size, difference = temporary.stat().st_size, None
        if is_installed("onnxruntime"):
            try:
                difference = onnx.check(temporary, loaded.model, warm_start=warm_start, input_scale=input_scale)
            except ValueError as error:
                raise ValueError(f"{out} was not written: {error}") from error
    return {
        "kind": loaded.kind,
        "made_from_components": loaded.is_made,
        **describe(loaded.encoder),
        "warm_start": warm_start,
        "input_scale": input_scale,
        "bytes": size,
        "largest_difference": difference,
    }


def describe_encoder(path: Path) -> dict[str, Any]:
    """How the encoder in a model file is built, in numbers."""
    model = load(path)
    own = getattr(getattr(model, "settings", model), "encoder", None)
    encoder = own if isinstance(own, Encoder) else load_encoder(path, None).encoder
    moved = {"departure": departure(encoder)} if isinstance(encoder, Encoder) else {}
    return {**describe(encoder), **moved, "bytes": path.stat().st_size}


def encoder_text(figures: Mapping[str, Any]) -> dict[str, str]:
    """The form of an encoder in words."""
    if "outlier_penalty" not in figures:
        return {
            "features": str(figures["features"]),
            "components": str(figures["components"]),
            "layers": f"{figures['layers']}, codes carried from sample to sample, with a head",
            "size": f"{figures['bytes']:,} bytes, {figures['dtype']}",
        }
    least, most = figures["outlier_penalty"]
    outliers = f"{least:.4g}" if least == most else f"{least:.4g} to {most:.4g}"
    signs = [part for part in ("codes", "outliers") if figures[f"nonnegative_{part}"]]
    facts = {
        "features": str(figures["features"]),
        "components": str(figures["components"]),
        "layers": f"{figures['layers']}, {'tied' if figures['tied'] else 'each with its own numbers'}",
        "structure": str(figures["structure"]),
        "signs": f"{' and '.join(signs)} not negative" if signs else "any",
        "penalties": f"rank {figures['rank_penalty']:.4g}, outliers {outliers}",
        "size": f"{figures['bytes']:,} bytes, {figures['dtype']}",
    }
    if "departure" in figures:
        moved = f"moved the layers from Algorithm 1 by {figures['departure']:.2g} times their size"
        facts["training"] = moved if figures["departure"] else "none, the layers are those of Algorithm 1"
    return facts
