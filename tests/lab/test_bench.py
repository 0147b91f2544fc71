"""The benchmarks find their comparisons, and the report on disk is the one that its figures give."""

import json
from pathlib import Path

from lab.bench.shared.comparisons import names, reports
from lab.bench.shared.report import markdown

RESULTS = Path(__file__).parents[2] / "lab" / "results"


def test_report_says_what_the_figures_say():
    results = json.loads((RESULTS / "latest.json").read_text(encoding="utf-8"))
    assert markdown(results) == (RESULTS / "latest.md").read_text(encoding="utf-8")


def test_every_comparison_has_a_place_of_its_own():
    places = [report.PLACE for report in reports().values()]
    assert places == sorted(set(places))
    assert sorted(reports()) == names()
    assert set(json.loads((RESULTS / "latest.json").read_text(encoding="utf-8"))) <= set(names())
