"""The demo in Python."""

from unmingle.apps import demo


def test_the_report_is_written_by_any_kind_of_path(tmp_path):
    told = []
    done = demo.run(20, 1, told.append)
    assert told[-1].done == demo.figures(done)["iterations"]
    path = demo.write_report(done, str(tmp_path))
    assert path == tmp_path / "report.html"
    assert done.command in path.read_text(encoding="utf-8")
    assert [way["name"] for way in demo.figures(done)["ways"]] == [row[0] for row in demo.comparison(done)[1]]
