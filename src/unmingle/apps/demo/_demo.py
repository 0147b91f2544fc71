"""Everything that the demo does."""

from dataclasses import dataclass
from typing import Any

from ...core.iterate import Callback
from ._readings import TableDemo, run_table, table_figures
from ._song import SongDemo, run_song, song_figures
from ._street import StreetDemo, run_street, street_figures


@dataclass(frozen=True, eq=False)
class Demo:
    """A film, a table and a song, each made with known truth, and what became of them."""

    street: StreetDemo
    table: TableDemo
    song: SongDemo
    n_frames: int
    seed: int

    @property
    def command(self) -> str:
        """What to type to get the same again."""
        return f"unmingle demo --seed {self.seed} --frames {self.n_frames}"


def run(n_frames: int, seed: int, callback: Callback) -> Demo:
    """Make a film, a table and a song, and take each apart, by unmingle and by simpler ways."""
    return Demo(run_street(n_frames, seed, callback), run_table(seed), run_song(seed), n_frames, seed)


def figures(demo: Demo) -> dict[str, Any]:
    """Return the results in numbers."""
    return {
        "seed": demo.seed,
        "street": street_figures(demo.street),
        "table": table_figures(demo.table),
        "song": song_figures(demo.song),
    }
