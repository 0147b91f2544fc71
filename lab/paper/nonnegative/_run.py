"""How near encoders of nonnegative data come to the exact cost of samples they have not seen."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unmingle.core.encoder.answers import exact_answer
from unmingle.core.encoder.encoder import Encoder
from unmingle.core.iterate import Callback, Progress
from unmingle.core.iterate import run as draw
from unmingle.core.linalg.units import Units
from unmingle.core.objective import nonnegative_stationarity
from unmingle.core.solvers.nmf import Factors, nmf_iterates
from unmingle.report.pieces import figure, heading, page, paragraph, table

from ..results import Table, write_text
from ._data import NonnegativeCase, read_cases

LAYERS, STEP_SIZE, SWEEPS = 5, 0.1, 400
FORMS = {"untrained": None, "trained, untied": False}
"""Encoders by name: whether their layers share their numbers; None for those that are not trained."""
HEAD = ["data", "encoder", "mean cost", "above exact", "median gap"]


def problem_of(case: NonnegativeCase) -> tuple[Encoder, Any]:
    """The untrained encoder for the factorised training samples, in units of about one, and these units."""
    units = Units.of(case.train)
    X, lam_star = units.to_units(case.train), units.to_units(case.rank_penalty)
    lam = np.full(X.shape[1], units.to_units(case.outlier_penalty), X.dtype)
    count = iter(range(SWEEPS))

    def measure(found: Factors) -> float:
        looked = next(count) % 20 == 0
        return nonnegative_stationarity(X, found.components, found.codes, lam_star, lam) if looked else np.nan

    sweeps = nmf_iterates(X, lam_star, lam, n_components=case.n_components, rng=np.random.default_rng(0))
    components = draw(sweeps, measure, tol=1e-3, max_iter=SWEEPS).state.components
    return encoder_of(components, lam_star, lam, True), units


def encoder_of(components: Any, lam_star: float, lam: Any, tied: bool) -> Encoder:
    """An untrained encoder with all signs."""
    return Encoder.from_components(
        components, rank_penalty=lam_star, outlier_penalty=lam, n_layers=LAYERS, tied=tied,
        nonnegative_codes=True, nonnegative_outliers=True,
    )  # fmt: skip


def figures_of(case: NonnegativeCase, max_steps: int, told: Callback) -> dict[str, Any]:
    """Costs of the exact answers and of all encoders, on the samples left out."""
    from unmingle import learn

    start, units = problem_of(case)
    train, test = units.to_units(case.train), units.to_units(case.test)
    exact = float(np.mean(start.cost(test, *exact_answer(start, test)), dtype=np.float64))
    hessian = start.components.astype(np.float64) @ start.components.T + start.rank_penalty * np.eye(case.n_components)
    found: dict[str, Any] = {}
    for done, (name, tied) in enumerate(FORMS.items(), start=1):
        encoder = start
        if tied is not None:
            begin = encoder_of(start.components, start.rank_penalty, start.outlier_penalty, tied)
            encoder = learn.train(
                begin, train, fitted=True, max_steps=max_steps, step_size=STEP_SIZE, random_state=0
            ).encoder
        answer = encoder.encode(test)
        cost = float(np.mean(encoder.cost(test, *answer), dtype=np.float64))
        gap = float(np.median(encoder.gap(test, *answer)))
        found[name] = {"cost": units.cost_from_units(cost), "above": cost / exact - 1, "gap": gap}
        told(Progress(done, len(FORMS)))
    return {
        "how": case.how, "n_train": len(train), "n_test": len(test), "n_features": train.shape[1],
        "n_components": case.n_components, "rank_penalty": case.rank_penalty, "outlier_penalty": case.outlier_penalty,
        "condition": float(np.linalg.cond(hessian)), "exact": units.cost_from_units(exact), "encoders": found,
    }  # fmt: skip


def run(folder: Path, out: Path, *, max_steps: int, callback: Callback | None = None) -> dict[str, Any]:
    """All cases of a folder, see `lab.registry.Experiment`."""
    settings = {"layers": LAYERS, "steps": max_steps, "step_size": STEP_SIZE}
    cases = read_cases(folder)
    result = {
        "settings": settings,
        "cases": {case.name: figures_of(case, max_steps, callback or (lambda progress: None)) for case in cases},
    }
    write_text(out / "nonnegative.json", json.dumps(result, indent=1))
    write_text(out / "nonnegative.html", _page(result))
    return result


def tables(result: Mapping[str, Any]) -> list[Table]:
    """Costs of all encoders beside the exact ones; then all splits of each kind of data together."""
    single = [row for name, case in result["cases"].items() for row in _rows(name, case)]
    return [(HEAD, [*single, *_together(result["cases"])])]


def _together(cases: Mapping[str, Any]) -> list[list[str]]:
    """Mean and worst share above the exact cost, over the splits of each kind of data."""
    rows = []
    for kind in dict.fromkeys(name.partition(",")[0] for name in cases):
        own = [case["encoders"] for name, case in cases.items() if name.partition(",")[0] == kind]
        for which in own[0]:
            above = [100 * one[which]["above"] for one in own]
            share = f"{np.mean(above):.2f} %, worst {max(above):.2f} %"
            rows.append([f"{kind}, {len(own)} splits", which, "", share, ""])
    return rows


def _rows(name: str, case: Mapping[str, Any]) -> list[list[str]]:
    encoders = [
        [name, which, f"{one['cost']:.5g}", f"{100 * one['above']:.2f} %", f"{one['gap']:.3f}"]
        for which, one in case["encoders"].items()
    ]
    return [*encoders, [name, "exact", f"{case['exact']:.5g}", "", ""]]


def _page(result: Mapping[str, Any]) -> str:
    settings = result["settings"]
    parts = [
        "<h1>Encoders of nonnegative data</h1>",
        paragraph(
            f"Mean cost of samples that were not trained on, {settings['layers']} layers, at most {settings['steps']} "
            f"steps of size {settings['step_size']}. Above exact is the share by which it exceeds the mean cost of the "
            "exact answers for the same components; the gap is what an encoder itself can tell of that share, a bound. "
            f"Made by: python -m lab nonnegative --max-steps {settings['steps']}",
            "lead",
        ),
        heading("All splits"),
        table(["data", "encoder", "above exact"], [[*row[:2], row[3]] for row in _together(result["cases"])], -1),
    ]
    for name, case in result["cases"].items():
        caption = (
            f"{case['how']}: {case['n_train']} to train on, {case['n_test']} to test, {case['n_features']} features, "
            f"{case['n_components']} components; condition number of U'U + lam_* I: {case['condition']:.0f}."
        )
        rows = [row[1:] for row in _rows(name, case)]
        parts += [heading(name), figure(table(HEAD[1:], rows, 1), caption)]
    return page("Encoders of nonnegative data", *parts)
