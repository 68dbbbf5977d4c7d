"""The arguments that an engine refuses at startup: ``startup.yaml`` in the engine's folder.

Its parser accepts each of them; what it rejects by itself is in ``flags.yaml``. The columns of a row:

    flag: the flag that the rule is about, while it is set and on.
    from, absent, until: versions with the rule. Where that is not known, nothing is said.
    enabled, disabled, unset: other flags, all of which must be on, turned off, or not set.
    is: values of other flags: one, or a list. at_most, above: bounds of numbers that other flags are set to.
    unless: flags and variables that lift the rule.

and one of these requirements:

    needs: flags that must be on as well. one_of: values that another flag must have, if it is set.
    without: a flag that must not be on.
    values: accepted values; with from, absent and until for those that only some versions have. The rule holds up to
      the last version in ``read``, because later ones may have more.
    least, most, below, multiple, divides: a flag, or a number: the value must be at least, at most, less than, a
      multiple, or a divisor of that.
    default: value of the other flag if it is not set; without it, the rule needs both.

    remedy: the next step, if it is not what the requirement says.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contract.tables import read_table
from ..flags.rows import Choice
from ..registry import Engine, engines
from ..versions import Version, VersionSpan, without_trailing_zeros

RELATIONS = ("least", "most", "below", "multiple", "divides")


@dataclass(frozen=True, slots=True, eq=False)
class StartRule:
    """A row; the attributes are its columns.

    Attributes:
        relation: The name of the column that compares numbers; empty without one.
        other: The flag or the number that it compares with.
    """

    flag: str
    span: VersionSpan
    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    values_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    above: Mapping[str, int] = field(default_factory=dict)
    unless: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    one_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    without: str = ""
    values: tuple[Choice, ...] = ()
    relation: str = ""
    other: str | int = ""
    default: int | None = None
    remedy: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class StartTable:
    """The rules of an engine.

    Attributes:
        read: The last version whose values are known.
    """

    engine: Engine
    rules: tuple[StartRule, ...]
    read: Version


def start_table(engine: str) -> StartTable | None:
    """Return the rules of an engine; None if it has none."""
    known = engines().get(engine)
    return _read(known) if known else None


@functools.cache
def _read(engine: Engine) -> StartTable | None:
    file = engine.folder.joinpath("startup.yaml")
    if not file.is_file():
        return None
    facts: Mapping[str, Any] = read_table(file)
    read = without_trailing_zeros(tuple(facts.get("read", ())))
    return StartTable(engine, tuple(map(_rule, facts["rules"])), read)


def _rule(row: Mapping[str, Any]) -> StartRule:
    relation = next((name for name in RELATIONS if name in row), "")
    return StartRule(
        flag=row["flag"],
        span=VersionSpan.from_row(row),
        enabled=_texts(row.get("enabled", ())),
        disabled=_texts(row.get("disabled", ())),
        unset=_texts(row.get("unset", ())),
        values_of={flag: _texts(values) for flag, values in row.get("is", {}).items()},
        at_most=row.get("at_most", {}),
        above=row.get("above", {}),
        unless=_texts(row.get("unless", ())),
        needs=_texts(row.get("needs", ())),
        one_of={flag: _texts(values) for flag, values in row.get("one_of", {}).items()},
        without=row.get("without", ""),
        values=tuple(map(_choice, row.get("values", ()))),
        relation=relation,
        other=row[relation] if relation else "",
        default=row.get("default"),
        remedy=row.get("remedy", ""),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)


def _choice(value: object) -> Choice:
    if isinstance(value, Mapping):
        return Choice(str(value["value"]), VersionSpan.from_row(value))
    return Choice(str(value))
