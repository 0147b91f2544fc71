"""The page of the audio experiment."""

from collections.abc import Mapping, Sequence
from typing import Any

from unmingle.report.pieces import facts, figure, heading, page, paragraph, table

from ..results import Table
from ._hearing import VARIANTS
from ._learners import CHOSEN
from ._rows import MIXTURE, NOTHING, ONLY_HIGH_PASS, ROWS, TIGHTER

MAIN = next(iter(VARIANTS))
"""The mask of the first table."""
PAPER = {
    "ideal mask": (13.48, 31.22, 13.65, 5.46),
    "ADMoM RPCA": (5.00, 13.76, 6.68, 2.38),
    "proximal RPCA": (5.48, 13.91, 7.02, 3.29),
    "untrained encoder": (5.30, 13.00, 6.80, 2.66),
    "unsupervised encoder": (5.62, 14.02, 6.90, 2.87),
    "supervised encoder": (6.38, 16.47, 7.22, 3.18),
}
"""GNSDR, GSIR, GSAR and what the paper calls GSNR, of its Table 2."""
_WHOLE_CLIP = "whole clip"
_LATENCY = "64 ms"


def audio_page(result: Mapping[str, Any]) -> str:
    """The tables as a page.

    Parameters
    ----------
    result : dict
        From `reproduce_audio`.
    """
    settings = result["settings"]
    head, rows = main_rows(result)
    parts = [
        "<h1>Voice and music</h1>",
        paragraph(
            "How well each method tells voice from music: Table 2 of the paper, on "
            f"{settings['test']} clips of {len(settings['singers'])} singers whom no method has heard, mixed at 0 dB.",
            "lead",
        ),
        paragraph("Made by: python -m lab audio"),
        *([paragraph(result["remark"])] if result["remark"] else []),
        figure(table(head, rows, chosen=-1), _MEANING),
        heading("Beside the paper"),
        figure(table(*_paper_rows(result), chosen=-1), f"Ours: {settings['test']} clips. {_OF_THE_PAPER}"),
        heading("All masks"),
        figure(table(*_mask_rows(result), chosen=-1), _MASKS),
        heading("Spread over the clips"),
        figure(table(*_spread_rows(result), chosen=-1), f"NSDR of the voice, mask: {MAIN}."),
        heading("Singers"),
        figure(table(*_singer_rows(result), chosen=-1), f"GNSDR of the voice by singer, mask: {MAIN}."),
        heading("The exact row"),
        figure(table(*verdict_rows(result), chosen=-1), _EXACTNESS),
        heading("How it was done"),
        facts({name: ROWS[name].settings for name in result["rows"] if name in ROWS} | _PROTOCOL),
        paragraph(_learning(settings)),
    ]
    return page("Voice and music", *parts)


_MEANING = (
    f"Mask: {MAIN}, but for the mixture and the high-pass alone. G: mean over clips, weighted by their lengths. "
    "BSS-EVAL 2.1, with a gain; v3: BSS-EVAL 3.0, with filters of 512 taps. snr is the plain ratio "
    "||s||² / ||e - s||². In dB, more is better. CPU: seconds of one processor for a second of sound, median over "
    "clips. Latency: how late the stems of a stream are; methods without one look at the whole clip."
)
_OF_THE_PAPER = (
    "The paper tested on all 825 clips of 17 singers. It does not say which mask, high-pass and penalties it took, nor "
    "what its GSNR is; here it stands beside the plain snr. So only order and gaps compare."
)
_MASKS = (
    "Means of the voice, and of the music beside them, whose snr is that of the voice. 100 Hz: below, all is music. "
    "Wiener: v² / (v² + m²); binary: 1 where |v| > |m|."
)
_EXACTNESS = (
    "Cost of (1): ||L||_* + lam ||X - L||_1 with each method's own L. Change: by how much a duality gap ten times "
    "smaller changes the GNSDR of the voice."
)
_PROTOCOL = {
    "clips": "voice: right channel, music: left one, each over its norm; the mixture is their sum",
    "spectra": "magnitudes of frames of 1024 samples every 256, Hann's window; phases of the mixture",
}


def _learning(settings: Mapping[str, Any]) -> str:
    who = " and ".join(settings["training_singers"])
    return (
        f"Encoders have {settings['layers']} layers and {settings['components']} spectra, all numbers not negative, "
        "and see one frame over a running level of the past. They learn from "
        f"{settings['frames']} frames of the mixtures of {settings['train']} clips by {who}; the unsupervised one and "
        f"the supervised one in {settings['steps']} steps of 64 frames at most, of size {settings['step_size']}. Our "
        f"network and the GRU have as many steps, of 16 songs of two seconds. Penalties: "
        f"{settings['rank_penalty']:g} of the rank, {settings['outlier_penalty']:g} of outliers. {CHOSEN} "
        "Nothing of this was chosen on the test clips."
    )


def main_rows(result: Mapping[str, Any]) -> Table:
    """Means of the voice by the main mask, and what each row needs."""
    head = ["method", "GNSDR", "GSIR", "GSAR", "GNSDR v3", "GSIR v3", "GSAR v3", "snr", "music GNSDR", "latency", "CPU"]
    rows = []
    for label, name, mask in _listed(result):
        music = _mean(result, name, mask, "music")["nsdr"]
        rows.append([label, *map(_decibels, _mean(result, name, mask, "voice").values()), _decibels(music)])
        rows[-1] += ["", ""] if mask == NOTHING else _needs(result, name)
    return head, rows


def short_rows(result: Mapping[str, Any]) -> Table:
    """The same in few columns, for a terminal."""
    measures = {"GNSDR": "nsdr", "GSIR": "sir", "GSAR": "sar", "v3": "nsdr3", "snr": "snr"}
    rows = []
    for label, name, mask in _listed(result):
        voice = _mean(result, name, mask, "voice")
        rows.append([label, *(_decibels(voice[measure]) for measure in measures.values())])
        rows[-1].append("" if mask == NOTHING else _needs(result, name)[1])
    return [f"voice, {MAIN}", *measures, "CPU"], rows


def _listed(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Labels, names and masks of the rows of the main table."""
    found = [(MIXTURE, MIXTURE, NOTHING), ("high-pass alone", MIXTURE, ONLY_HIGH_PASS)]
    return [*found, *((name, name, MAIN) for name, _ in _methods(result))]


def _needs(result: Mapping[str, Any], name: str) -> list[str]:
    """Latency and share of a processor."""
    causal = name == MIXTURE or ROWS[name].causal
    return [_LATENCY if causal else _WHOLE_CLIP, f"{result['rows'][name]['cpu']:.3f}"]


def verdict_rows(result: Mapping[str, Any]) -> Table:
    """What is demanded of the exact row."""
    found = result["verdicts"]
    changes = [
        [f"change by a gap of a tenth, {mask}", f"{change:+.3f} dB", _met(abs(change) < found["enough"])]
        for mask, change in found["changes"].items()
    ]
    clips = f"{found['not_above_plain']} of {found['clips']}"
    return ["exact (1)", "", "demanded"], [
        ["clips whose cost is at most that of the plain ALM", clips, _met(found["not_above_plain"] == found["clips"])],
        ["largest ratio of costs", f"1 {found['largest_ratio'] - 1:+.1e}", ""],
        ["mean ratio of costs", f"1 {found['mean_ratio'] - 1:+.1e}", ""],
        *changes,
    ]


def _paper_rows(result: Mapping[str, Any]) -> Table:
    measures = ("nsdr", "sir", "sar", "snr")
    rows = []
    for name, paper in PAPER.items():
        if name in result["rows"]:
            ours = _mean(result, name, MAIN, "voice")
            pairs = zip(measures, paper, strict=True)
            rows.append(
                [name, *(cell for measure, theirs in pairs for cell in (_decibels(ours[measure]), f"{theirs:.2f}"))]
            )
    titles = ("GNSDR", "GSIR", "GSAR", "snr")
    return ["method", *(cell for title in titles for cell in (title, "paper"))], rows


def _mask_rows(result: Mapping[str, Any]) -> Table:
    head = [
        "method",
        "mask",
        "GNSDR",
        "GSIR",
        "GSAR",
        "GNSDR v3",
        "GSIR v3",
        "GSAR v3",
        "snr",
        "music GNSDR",
        "music snr",
    ]
    rows = [
        [name, mask, *map(_decibels, _mean(result, name, mask, "voice").values()),
         *(_decibels(_mean(result, name, mask, "music")[measure]) for measure in ("nsdr", "sir", "sar"))]
        for name, found in result["rows"].items()
        for mask in found["masks"]
    ]  # fmt: skip
    return head, rows


def _spread_rows(result: Mapping[str, Any]) -> Table:
    shares = ("mean", "median", "5 %", "95 %")
    rows = [
        [
            name,
            *(_decibels(found["masks"][MAIN]["voice"]["overall"][share]["nsdr"]) for share in shares),
            str(found["clips"]),
        ]
        for name, found in _methods(result)
    ]
    return ["method", *shares, "clips"], rows


def _singer_rows(result: Mapping[str, Any]) -> Table:
    singers = result["settings"]["singers"]
    rows = [
        [name, *(_decibels(found["masks"][MAIN]["voice"]["singers"][singer]["nsdr"]) for singer in singers)]
        for name, found in _methods(result)
    ]
    return ["method", *singers], rows


def _methods(result: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    return [(name, found) for name, found in result["rows"].items() if name not in (MIXTURE, TIGHTER)]


def _mean(result: Mapping[str, Any], name: str, mask: str, source: str) -> dict[str, float | None]:
    means: dict[str, float | None] = result["rows"][name]["masks"][mask][source]["overall"]["mean"]
    return means


def _decibels(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2) + 0.0:.2f}"


def _met(good: bool) -> str:
    return "met" if good else "not met"
