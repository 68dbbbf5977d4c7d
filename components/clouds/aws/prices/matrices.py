"""Tables with one row per instance type and one column per region; an empty cell is unknown.

``on_demand.csv`` has US dollars per hour, ``spot.csv`` the percentage that spot saves over that. The source of each
column is in ``sources.csv`` one folder up. ``tools/refresh_instances.py`` writes all of them.
"""

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

_PARENT = __package__.rpartition(".")[0]
"""The package above, which has the sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSource:
    """Where the prices of a region are from.

    Attributes:
        date: Date of the source.
        average: What spot prices are the average of; empty for others.
    """

    date: str
    source: str
    average: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A table by instance type and region.

    Attributes:
        columns: Number of the column by region.
        rows: Lines of the table by instance type. Most are never read, so that they are split when one is.
    """

    columns: Mapping[str, int]
    rows: Mapping[str, str]

    def cell(self, region: str, instance_type: str) -> str:
        """Return the number of a type in a region, as it is written; empty if it is unknown."""
        column, line = self.columns.get(region), self.rows.get(instance_type)
        return line.split(",")[column] if column is not None and line is not None else ""


@functools.cache
def on_demand() -> Matrix:
    return _matrix("on_demand.csv")


@functools.cache
def spot_savings() -> Matrix:
    return _matrix("spot.csv")


@functools.cache
def sources() -> Mapping[tuple[str, str], ColumnSource]:
    """Return the sources by table (``on-demand`` or ``spot``) and region."""
    text = files(_PARENT).joinpath("sources.csv").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            (row["table"], row["region"]): ColumnSource(
                date=row["date"], source=row["source"], average=row["average"]
            )
            for row in csv.DictReader(text.splitlines())
        }
    )


def _matrix(name: str) -> Matrix:
    header, *lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    columns = {region: number for number, region in enumerate(header.split(",")) if number}
    return Matrix(columns=columns, rows={line.partition(",")[0]: line for line in lines})
