"""What is asked of the jobs on tables: settings and outputs; light to import, since commands make options of them."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from ..._fields import check_settings
from ..._rules import Count, Flag, Number, OneOf, maybe

MARKS = (".", ",")
"""Decimal marks."""


@dataclass(frozen=True)
class Reading:
    """How a table in a file is read; what is not said here is found from the file."""

    sheet: Annotated[str | None, "Sheet of an Excel file, by name or number."] = None
    header: Annotated[bool | None, "Whether the first line holds names; by default found from the file."] = None
    decimal: Annotated[str | None, OneOf(*MARKS, None), "Decimal mark; by default found from the numbers."] = None
    use: Annotated[tuple[str, ...], "Treat this column as data although it was set aside; may be repeated."] = ()
    skip: Annotated[tuple[str, ...], "Set this column aside, and write it back unchanged; may be repeated."] = ()

    def __post_init__(self) -> None:
        for name in ("use", "skip"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))
        check_settings(self)


@dataclass(frozen=True)
class Outputs:
    """What is written of a table; nothing without a place."""

    out: Annotated[
        Path | None, "Folder for the results, or name of the cleaned table: its suffix tells the format."
    ] = None
    report: Annotated[bool, Flag(), "Write a page with pictures of the table."] = False
    parts: Annotated[bool, Flag(), "Write the low-rank table and the sparse outliers of the answer, too."] = False

    def __post_init__(self) -> None:
        check_settings(self)
        if self.out is not None:
            object.__setattr__(self, "out", Path(self.out))

    def beside(self, table: Path) -> "Outputs":
        """The same, in the folder of the table where no place is given: what `unmingle decompose` does."""
        return self if self.out is not None else replace(self, out=table.parent)


@dataclass(frozen=True)
class CleaningSettings:
    """What is put into the cells of the cleaned table."""

    fill: Annotated[bool, Flag(), "Fill the gaps of the cleaned table."] = True
    replace: Annotated[bool, Flag(), "Replace the cells that stand out in the cleaned table."] = True


@dataclass(frozen=True)
class Settings(CleaningSettings):
    """How a table is read, taken apart and cleaned; see `unmingle.decompose` for the mathematics."""

    reading: Reading = field(default_factory=Reading)
    n_components: Annotated[int | None, maybe(Count(1)), "Largest rank allowed."] = None
    rank_penalty: Annotated[Any, "Weight of the rank."] = "auto"
    outlier_penalty: Annotated[Any, "Weight of the outliers."] = "auto"
    nonnegative: Annotated[
        bool, Flag(), "Patterns that are never negative and only add up: for counts and spectra."
    ] = False
    scale: Annotated[
        Literal["columns"] | None, OneOf("columns", None), "Weigh all columns alike, or take them as they are."
    ] = "columns"
    debias: Annotated[bool, Flag(), "Fit the low-rank table again, without the shrinkage of the penalties."] = True
    false_share: Annotated[
        float,
        Number(0.0, 1.0, above=True, below=True),
        "Share of the listed outliers that may be false; smaller lists fewer.",
    ] = 0.03
    tol: Annotated[float, Number(0.0), "Relative duality gap, or stationarity, at which to stop."] = 1e-4
    max_iter: Annotated[int, Count(1), "Stop after this many iterations in any case."] = 500
    random_state: Annotated[int, Count(), "Random seed: the same seed gives the same results."] = 0

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class ApplySettings(CleaningSettings):
    """How a new table is read and cleaned by a model of another one."""

    reading: Reading = field(default_factory=Reading)
    false_share: float = 0.03
    """Share of the listed outliers that may be false, where the model knows the noise of cells."""
    size: tuple[int, int] | None = None
    """Height and width that all images of a folder are brought to."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True)
class ModelSettings:
    """What is learnt of a table; see `unmingle.RobustPCA`."""

    reading: Reading = field(default_factory=Reading)
    n_components: Annotated[int | None, maybe(Count(1)), "Largest number of components."] = None
    rank_penalty: Annotated[Any, "Weight of the rank."] = "auto"
    outlier_penalty: Annotated[Any, "Weight of the outliers."] = "auto"
    nonnegative: Annotated[
        bool, Flag(), "For tables: patterns that are never negative and only add up, as for counts."
    ] = False
    random_state: Annotated[int, Count(), "Random seed: the same seed gives the same results."] = 0

    def __post_init__(self) -> None:
        check_settings(self)
