"""What a file of a model tells, in plain words: what it is, what it was trained on, what goes in, how good it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from .. import store
from .models import describe_encoder, model_path

KINDS = {
    "RobustPCA": "robust principal components, for tables and images",
    "RobustNMF": "robust nonnegative parts, for counts, spectra and images",
    "OnlineRobustPCA": "robust principal components of a stream",
    "OnlineRobustNMF": "robust nonnegative parts of a stream",
    "LearnedRobustPCA": "robust principal components with a trained encoder",
    "LearnedRobustNMF": "robust nonnegative parts with a trained encoder",
    "Encoder": "an encoder: a network that finds the low-rank part and outliers",
    "SequenceEncoder": "a network that follows sequences",
    "VoiceModel": "a network that tells a voice from its accompaniment",
    "VideoStream": "the background of a film, which goes on learning",
    "Aligner": "a robust model of images that are aligned with each other",
    "Training": "a checkpoint of training that was interrupted",
}


@dataclass(frozen=True)
class Description:
    """What the file of a model tells, without the model being loaded.

    Attributes
    ----------
    path : Path
        The file.
    header : Header
        Its kind, format, parameters and arrays.
    parameters : mapping
        The parameters without the card.
    card : mapping
        What the model tells of its training, if anything.
    encoder : dict
        How its encoder is built, if it has one.
    """

    path: Path
    header: Any
    parameters: Mapping[str, Any]
    card: Mapping[str, Any]
    encoder: dict[str, Any]

    def summary(self) -> dict[str, Any]:
        """All that is in the header, as plain values."""
        arrays = {name: array._asdict() for name, array in self.header.arrays.items()}
        encoder = {"encoder": self.encoder} if self.encoder else {}
        return {"summary": self.summary_text(), **self.header._asdict(), "arrays": arrays, **encoder}

    def summary_text(self) -> dict[str, str]:
        """What people want to know, in words."""
        return header_text(self.header, self.card)


def describe(model: str | PathLike[str]) -> Description:
    """Tell what a model is, what it was trained on, what goes in and how good it is.

    Parameters
    ----------
    model : path
        A file, or "voice" or "phone", which come with unmingle.

    Raises
    ------
    unmingle.store.StoreError
        The file is missing, damaged or not one of unmingle's.
    """
    path = model_path(Path(model))
    header = store.peek(path)
    parameters, card = _without_card(header.parameters)
    with_encoder = any(name.endswith(("readout_feedback", "cell.feedback")) for name in header.arrays)
    return Description(path, header, parameters, card, describe_encoder(path) if with_encoder else {})


def _without_card(parameters: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Take the card of a model, what it tells of its training, out of its parameters."""
    match parameters:
        case {"fitted": {"card_": dict(card), **others}}:
            return {**parameters, "fitted": others}, card
        case {"card": dict(card), **others}:
            return others, card
        case _:
            return parameters, {}


def header_text(header: Any, card: Mapping[str, Any]) -> dict[str, str]:
    """What people want to know of a model, from the header of its file and from its card, if it has one."""
    fitted = _table(header.parameters.get("fitted"))
    rows = _table(fitted.get("rows_"))
    facts = {
        "kind": lambda: f"{header.kind}, {KINDS.get(header.kind, 'a model')}",
        "trained on": lambda: _trained_on(header.parameters, fitted, rows, card),
        "input": lambda: _input(header, fitted, rows, card),
        "components": lambda: str(fitted.get("n_components_", "")),
        "penalties": lambda: _penalties(fitted),
        "quality": lambda: _quality(fitted, card),
        "bad rows": lambda: f"a score below {rows['offset']:.3g} is an outlier (-1)" if rows else "",
        "made by": lambda: str(card.get("made by", "")),
    }
    return {name: found for name, fact in facts.items() if (found := _readable(fact))}


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _readable(fact: Callable[[], str]) -> str:
    """A fact; nothing where a header that was only peeked at holds something else than such a model does."""
    try:
        return fact()
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        return ""


def _trained_on(parameters: Any, fitted: Any, rows: Any, card: Mapping[str, Any]) -> str:
    if "data" in card:
        return str(card["data"])
    for found, what in (
        (fitted.get("n_samples_seen_") or rows.get("described"), "rows"),
        (parameters.get("n_images_seen"), "images"),
        (parameters.get("n_frames"), "frames"),
    ):
        if found:
            return f"{found:,} {what}"
    return ""


def _input(header: Any, fitted: Any, rows: Any, card: Mapping[str, Any]) -> str:
    """How many numbers, how they are called, and how large they were in training."""
    if "n_features_in_" not in fitted:
        shape = header.parameters.get("shape")
        return f"frames of {shape[1]} x {shape[0]} pixels, {header.parameters.get('dtype', '')}" if shape else ""
    words = f"rows of {fitted['n_features_in_']:,} numbers"
    names = fitted.get("feature_names_in_", {}).get("names", [])
    if names:
        words += f" ({', '.join(map(str, names[:4]))}{', ...' if len(names) > 4 else ''})"
    least, most = (card.get(f"{end} entry", rows.get(end)) for end in ("smallest", "largest"))
    return words if least is None else f"{words}, in training from {least:.4g} to {most:.4g}"


def _penalties(fitted: Mapping[str, Any]) -> str:
    if "rank_penalty_" not in fitted:
        return ""
    outliers = fitted.get("outlier_penalty_")
    return f"rank {fitted['rank_penalty_']:.4g}, outliers {f'{outliers:.4g}' if outliers else 'one for each column'}"


def _quality(fitted: Mapping[str, Any], card: Mapping[str, Any]) -> str:
    facts = []
    if "converged_" in fitted and not fitted["converged_"]:
        facts.append("not converged: stopped at max_iter")
    if fitted.get("gap_") is not None and fitted.get("gap_") == fitted.get("gap_"):
        facts.append(f"cost within {_percent(fitted['gap_'])} of the least possible")
    if "stationarity_" in fitted:
        facts.append(f"stationary to {fitted['stationarity_']:.1g}")
    if "noise_level_" in fitted:
        facts.append(f"noise level {fitted['noise_level_']:.3g}")
    if "gain of training" in card:
        facts.append(f"training lowered the cost by {_percent(card['gain of training'])}")
    if "median relative gap on training data" in card:
        facts.append(f"half of the answers within {_percent(card['median relative gap on training data'])} of the best")
    return "; ".join(facts)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"
