"""The benchmarks find their comparisons, and the report on disk is the one that its figures give."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(autouse=True)
def path_to_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)


def test_report_says_what_the_figures_say():
    from benchmarks._shared.report import markdown

    results = json.loads((RESULTS / "latest.json").read_text(encoding="utf-8"))
    assert markdown(results) == (RESULTS / "latest.md").read_text(encoding="utf-8")


def test_every_comparison_has_a_place_of_its_own():
    from benchmarks._shared.comparisons import names, reports

    places = [report.PLACE for report in reports().values()]
    assert places == sorted(set(places))
    assert sorted(reports()) == names()
    assert set(json.loads((RESULTS / "latest.json").read_text(encoding="utf-8"))) <= set(names())
