"""The bars the project has set itself, against the figures reached."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import compare_cold
import compare_distributed
import compare_encoder
import compare_memory
import compare_video
import video_memory
from compare_projection import FRAMES, LEAVING, STAYING
from contender import OWN, REFERENCE
from stream_accuracy import STATIONARY
from stream_contenders import HYPERSPY, INCREMENTAL, OURS, OURS_DEFAULT
from stream_memory import CHECKPOINTS
from stream_race import FULL, complete, median_ratio
from tasks import LARGE, MEDIUM

Results = dict[str, Any]
Row = dict[str, Any]

PURSUIT, PURSUIT_32 = "unmingle pcp, float64, 1e-07", "unmingle pcp, float32, 1e-06"
MINIMISERS = ("unmingle proximal, float64, 1e-06", "unmingle alternating, float64, 1e-06")
MINIMISERS_32 = ("unmingle proximal, float32, 1e-04", "unmingle alternating, float32, 1e-04")


class Bar(NamedTuple):
    what: str
    wanted: str
    reached: str
    met: bool


def bars(results: Results) -> list[Bar]:
    """Every bar that the results at hand can speak of, at the sizes it was set for."""
    checks = {
        "pcp": _pcp,
        "unconstrained": _unconstrained,
        "projection": _projection,
        "memory": _memory,
        "stream": _stream,
        "encoder": _encoder,
        "distributed": _distributed,
        "video": _video,
        "threads": _threads,
        "cold": _cold,
    }
    return [bar for name, check in checks.items() if name in results for bar in check(results[name])]


def _rows(comparison: Results) -> dict[str, dict[str, Row]]:
    """Rows that ran, by size and contender."""
    return {
        table["size"]: {row["contender"]: row for row in table["rows"] if "cpu" in row}
        for table in comparison["tables"]
    }


def _pcp(comparison: Results) -> Iterator[Bar]:
    by_size = _rows(comparison)
    for size, wanted in ((MEDIUM.label, 25), (LARGE.label, 50)):
        if size not in by_size:
            continue
        ours, narrow = by_size[size][PURSUIT]["ratio"], by_size[size][PURSUIT_32]["ratio"]
        yield Bar(f"pcp against {REFERENCE}, {size}, float64", f"≥ {wanted} times", f"{ours:.1f} times", ours >= wanted)
        yield Bar(f"pcp in float32, {size}", "more than in float64", f"{narrow:.1f} times", narrow > ours)
    excess = {size: rows[PURSUIT]["error"] / rows[REFERENCE]["error"] for size, rows in by_size.items()}
    worst = max(excess, key=excess.__getitem__)
    reached = f"at most {excess[worst]:.2f} times the reference's ({worst})"
    yield Bar("error of L from pcp, float64", "that of the reference", reached, excess[worst] <= 1)
    yield from _ahead_of_peers(by_size)


def _ahead_of_peers(by_size: dict[str, dict[str, Row]]) -> Iterator[Bar]:
    """Against each peer, our fastest run whose error is equal or better."""
    margins: dict[str, tuple[float, str]] = {}
    for size, rows in by_size.items():
        for peer in (row for row in rows.values() if row["package"] not in OWN):
            ours = [row for row in rows.values() if row["package"] == "unmingle" and row["error"] <= peer["error"]]
            fastest = min((row["cpu"] for row in ours), default=float("inf"))
            margin = (peer["cpu"] / fastest, size)
            margins[peer["contender"]] = min(margin, margins.get(peer["contender"], margin))
    for peer, (margin, size) in sorted(margins.items()):
        reached = f"{margin:.1f} times faster at least ({size})" if margin else "its error is not reached"
        yield Bar(f"pcp ahead of {peer} at equal or better error", "faster", reached, margin > 1)


def _unconstrained(comparison: Results) -> Iterator[Bar]:
    by_size = _rows(comparison)
    for size, wanted in ((MEDIUM.label, 5), (LARGE.label, 8)):
        if size in by_size:
            best = max(MINIMISERS, key=lambda name: by_size[size][name]["ratio"])
            ratio = by_size[size][best]["ratio"]
            what = f"proximal or alternating to a certified gap 1e-6 against {REFERENCE}, {size}"
            yield Bar(what, f"≥ {wanted} times, aim 20", f"{ratio:.1f} times ({best.split()[1][:-1]})", ratio >= wanted)
    for names, tol, dtype in ((MINIMISERS, 1e-6, "float64"), (MINIMISERS_32, 1e-4, "float32")):
        ran = [(rows[name], size) for size, rows in by_size.items() for name in names]
        worst, size = max(ran, key=lambda pair: pair[0]["gap"])
        met = worst["gap"] <= tol and all(row["converged"] for row, _ in ran)
        what = f"certified gap of (2), {dtype}, all sizes, checked again from the answer in float64"
        yield Bar(what, f"≤ {tol:.0e}", f"{worst['gap']:.1e} at most ({size})", met)
    spread = max(_spread(rows) for rows in by_size.values())
    yield Bar("solvers of (2), float64 and float32, agree on the objective", "to 1e-5", f"{spread:.1e}", spread <= 1e-5)


def _spread(rows: dict[str, Row]) -> float:
    """Largest relative difference of objectives (2) in a round."""
    objectives = [[turn["objective"] for turn in rows[name]["turns"]] for name in MINIMISERS + MINIMISERS_32]
    return max((max(values) - min(values)) / min(values) for values in zip(*objectives, strict=True))


def _projection(comparison: Results) -> Iterator[Bar]:
    if comparison.get("frames") != FRAMES:
        return
    rows = {row["contender"]: row for row in comparison["rows"]}
    for name in (STAYING, LEAVING):
        ratio, gap = rows[name]["ratio"], max(rows[name]["gap"], rows["Newton"]["gap"])
        met = ratio >= 5 and gap <= comparison["tol"]
        yield Bar(f"Newton projection against {name}", "≥ 5 times", f"{ratio:.1f} times", met)


def _memory(comparison: Results) -> Iterator[Bar]:
    """The bar is set for one size and the solver itself, which comes first."""
    row = next((row for row in comparison["rows"] if row["size"] == compare_memory.SIZE.label), {})
    if row.get("memory") is not None:
        what = f"peak memory of proximal, {row['size']}, float32"
        yield Bar(what, "≤ 6 copies of X", f"{row['memory']:.1f}", row["memory"] <= 6)


def _stream(comparison: Results) -> Iterator[Bar]:
    if comparison["race"]["samples"] == FULL.samples:
        yield from _stream_race({row["contender"]: row for row in comparison["race"]["rows"] if "cpu" in row})
    if comparison["stationary"]["samples"] == STATIONARY.samples:
        row = next(row for row in comparison["stationary"]["rows"] if row["contender"] == OURS_DEFAULT)
        what = "OnlineRobustPCA, defaults: error at the end of a stationary stream, worst seed"
        yield Bar(what, "< 1.3 %", f"{100 * row['worst']:.2g} %", row["worst"] < 0.013)
    for row in comparison["rotation"]["rows"]:
        if row["contender"] == OURS:
            what = f"OnlineRobustPCA, forgetting 0.99: largest angle to a turning subspace, noise {row['noise']:g}"
            yield Bar(what, "< 5°", f"{row['angle']:.2f}°", row["angle"] < 5)
    memory = comparison["memory"]
    if memory["peaks"] and tuple(memory["checkpoints"]) == CHECKPOINTS:
        growth = memory["peaks"][-1] / memory["peaks"][0] - 1
        what = f"OnlineRobustPCA: peak memory after {CHECKPOINTS[-1]} samples against {CHECKPOINTS[0]}"
        yield Bar(what, "≤ 5 % more", f"{growth:.2%} more", growth <= 0.05)


def _stream_race(rows: dict[str, Row]) -> Iterator[Bar]:
    """Ratios are medians over the parts of the stream; over all of it, our start counts too."""
    ours, incremental = rows[OURS], rows[INCREMENTAL]
    peers = complete(rows.values(), HYPERSPY)
    if peers:
        fastest = max(peers, key=lambda row: row["speed"])
        ratio, angles = median_ratio(fastest, ours), (ours["angle"], fastest["angle"])
        reached = f"{ratio:.1f} times ({fastest['cpu'] / ours['cpu']:.1f} over all), "
        reached += f"{angles[0]:.2f}° against {angles[1]:.2f}° ({fastest['contender']})"
        what = "OnlineRobustPCA: speed against the fastest hyperspy ORPCA, at equal or better angle"
        yield Bar(what, "≥ 5 times, aim 10", reached, ratio >= 5 and angles[0] <= angles[1])
    excess = median_ratio(ours, incremental)
    reached = f"{excess:.2f} times ({ours['cpu'] / incremental['cpu']:.2f} over all)"
    yield Bar("OnlineRobustPCA: CPU time against IncrementalPCA", "≤ 3 times", reached, excess <= 3)


def _encoder(comparison: Results) -> Iterator[Bar]:
    if comparison["rows_per_batch"] != compare_encoder.ROWS:
        return
    rows = {row["name"]: row for row in comparison["rows"]}
    for shape, rate, aim, batch, single in (
        (compare_encoder.VIDEO, 0.25, 0.5, 5, 3),
        (compare_encoder.AUDIO, 0.45, 0.6, 2.5, 2),
    ):
        row, what = rows[shape.name], f"encoder, {shape.name}, q = {shape.atoms}"
        yield Bar(f"{what}: rate against sgemm", f"≥ {rate}, aim {aim}", f"{row['rate']:.2f}", row["rate"] >= rate)
        for key, wanted, kind in (("times_numpy", batch, "batch"), ("times_numpy_single", single, "one sample")):
            yield Bar(f"{what}: {kind} against NumPy", f"≥ {wanted} times", f"{row[key]:.1f} times", row[key] >= wanted)


def _distributed(comparison: Results) -> Iterator[Bar]:
    if comparison["work"] != vars(compare_distributed.WORK):
        return
    one, two = comparison["rows"]
    ratio = two["cpu"] / one["cpu"]
    reached = f"{ratio:.2f} times; wall {two['wall'] / one['wall']:.2f} times, load {two['load']:.1f}"
    yield Bar("distributed: CPU time of two workers against one, 4 GB of zarr", "≤ 1.15 times", reached, ratio <= 1.15)


def _video(comparison: Results) -> Iterator[Bar]:
    """Set for the full sizes; a quick run has other counts of frames."""
    reference = compare_video.REFERENCE
    tables = {table["size"]: table for table in comparison.get("tables", ())}
    for size, wanted in zip(compare_video.SIZES, (2.0, 2.0, 1.5), strict=True):
        table = tables.get(size.label, {})
        if table.get("frames") != size.frames:
            continue
        rows = {row["contender"]: row["ratio"] for row in table["rows"]}
        for name, least in ((compare_video.OURS, wanted), (compare_video.OURS_SUBSET, 3.0)):
            aim = ", aim 5" if name == compare_video.OURS_SUBSET else ""
            what = f"video, {size.label}: {name} against {reference}, grey"
            yield Bar(what, f"≥ {least:g} times{aim}", f"{rows[name]:.2f} times", rows[name] >= least)
    yield from _video_memory(comparison["memory"])


def _video_memory(memory: Results) -> Iterator[Bar]:
    if not memory["peaks"] or tuple(memory["checkpoints"]) != video_memory.CHECKPOINTS:
        return
    size, least, most = f"{memory['width']}x{memory['height']}", *video_memory.CHECKPOINTS
    above = memory["peaks"][-1] - memory["baseline"]
    wanted = f"≤ 1.5 m (2q + 6) floats, {memory['bar'] / 2**20:.1f} MiB"
    yield Bar(f"video: peak memory, {size}, {most} frames", wanted, f"{above / 2**20:.1f} MiB", above <= memory["bar"])
    growth = memory["resident"][-1] / memory["resident"][0] - 1
    what = f"video: resident memory after {most} frames against {least}"
    yield Bar(what, "≤ 1 % more", f"{growth:.2%} more", growth <= 0.01)


def _threads(comparison: Results) -> Iterator[Bar]:
    if comparison["quick"]:
        return
    for state, most in (("idle", 1.1), ("busy", 1.5)):
        worst = max(comparison["rows"][state], key=lambda row: row["ratio"])
        reached = f"{worst['ratio']:.2f} times at worst ({worst['what']}, {worst['task']})"
        what = f"threads, machine {state}: default against OMP_NUM_THREADS=1, time on the wall"
        yield Bar(what, f"≤ {most} times", reached, worst["ratio"] <= most)


def _cold(comparison: Results) -> Iterator[Bar]:
    first = {row["task"]: row["cold"] for row in comparison["rows"]}
    for task, most, aim in ((compare_cold.FIT, 4, 2), (compare_cold.FILM, 7, 4)):
        reached = f"{first[task]:.1f} s"
        yield Bar(
            f"first call, nothing compiled: {task}", f"≤ {most} s of CPU, aim {aim}", reached, first[task] <= most
        )
