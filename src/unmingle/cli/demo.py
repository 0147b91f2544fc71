"""The command `unmingle demo`."""

from pathlib import Path
from typing import Annotated

import typer

from ..apps.jobs import solver_text
from ._shared import console
from ._shared.options import Json, Quiet, Seed
from ._shared.paths import ready_folder


def run(
    out: Annotated[Path, typer.Option(help="Folder for the report and the files of the demo.")] = Path("unmingle-demo"),
    seed: Seed = 0,
    frames: Annotated[int, typer.Option(min=10, max=2000, help="Length of the film.")] = 150,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Separate a film, a table and a song, compare with simpler methods, and write a page with pictures and sound.

    All three are made, so that the truth is known. They are written as files, too: try the other commands on them.
    """
    with console.progress("Separating the film", quiet=quiet) as advance, console.warnings_as_sentences():
        from ..apps.demo.demonstration import DemoSettings, run_demo
        from ..apps.demo.readings import compare_readings
        from ..apps.demo.street import compare_street

        done = run_demo(ready_folder(out), DemoSettings(seed=seed, frames=frames), progress=advance)
    report = done.written["report.html"]
    files = {name: path for name, path in done.written.items() if path != report}
    summary = done.summary()
    if as_json:
        console.print_json({**summary, "files": files, "report": str(report)})
    elif not quiet:
        song = f"voice {summary['song']['voice_gain']:+.1f} dB, music {summary['song']['music_gain']:+.1f} dB"
        console.show(
            "A film whose light changes: what moves? (1 is best; simple ways have the best threshold)",
            console.table(*compare_street(done.street), first_is_ours=True),
            console.facts(solver_text(summary["street"])),
            f"\nA table with {done.readings.n_faults} faults and {done.readings.n_gaps} gaps: which cells are wrong?",
            console.table(*compare_readings(done.readings), first_is_ours=True),
            f"A song: nearer to the true parts by: {song}\n",
            files=", ".join(map(str, files.values())),
            report=report,
        )
