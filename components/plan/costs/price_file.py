"""A file with prices of one's own: YAML, or CSV where its name ends so. Every mistake is told at its line.

Of a file with a mistake nothing is used.
"""

import csv
import datetime
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ...contract.documents.reader import Document, YamlError, read_documents
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, did_you_mean, field_path
from ...fleet.cloud_providers import flat_items, is_further_type, is_region
from ...fleet.instances import instances
from ...fleet.prices import EVERYWHERE, Buying, Quote, fixed_quote, per_hour
from .prices import OwnPrices

MOST = 1_000_000
"""Nothing costs so much an hour: a mistake, or an attack on what prints it."""
WAYS = {
    "onDemand": Buying.ON_DEMAND,
    "spot": Buying.SPOT,
    "reserved": Buying.RESERVED,
    "reserved3Y": Buying.RESERVED_3Y,
    "capacityBlock": Buying.CAPACITY_BLOCK,
}
"""How instances are paid for, as a YAML file says it."""
RANGE = ("usd", "low", "high")
COLUMNS = ("region", "item", "bought", *RANGE)
"""Of a CSV file; ``date`` and ``source`` too."""
_TOP = ("date", "source", "regions")
_Path = tuple[str | int, ...]


@dataclass(slots=True)
class _Reading:
    """What is read of a file, and what is wrong with it."""

    file: str
    date: str = ""
    source: str = ""
    instances: dict[tuple[str, str, str], Quote] = field(default_factory=dict)
    flat: dict[tuple[str, str], Quote] = field(default_factory=dict)
    problems: list[tuple[_Path, str]] = field(default_factory=list)

    def wrong(self, path: _Path, reason: str) -> None:
        """Record a mistake."""
        self.problems.append((path, reason))

    def mapping(self, value: object, path: _Path) -> Mapping[str, Any]:
        """Return a map; anything else is a mistake."""
        if isinstance(value, Mapping):
            return value
        self.wrong(path, f"must be a map, found {_shown(value)}")
        return {}

    def number(self, value: object, path: _Path) -> Decimal | None:
        """Return US dollars."""
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            self.wrong(path, f"must be a number of US dollars, found {_shown(value)}")
            return None
        usd = Decimal(str(value))
        if not 0 <= usd <= MOST:
            self.wrong(path, f"must be between 0 and {MOST}, found {_shown(value)}")
            return None
        return usd

    def quote(self, value: object, path: _Path) -> Quote | None:
        """Return a price: a number, or a range with what counts; the high end counts where nothing else is said."""
        if not isinstance(value, Mapping):
            usd = self.number(value, path)
            return None if usd is None else fixed_quote(usd, self.date, self.source)
        self.known(value, RANGE, path)
        found = {key: self.number(value[key], (*path, key)) for key in RANGE if value.get(key) is not None}
        if not found:
            self.wrong(path, f"must have one of {', '.join(RANGE)}")
        if not found or None in found.values():
            return None
        numbers = {key: number for key, number in found.items() if number is not None}
        usd = numbers.get("usd", max(numbers.values()))
        low, high = numbers.get("low", usd), numbers.get("high", usd)
        if not low <= usd <= high:
            self.wrong(path, f"must not be below low or above high, found low {low}, usd {usd} and high {high}")
        return Quote(usd, low, high, self.date, self.source)

    def known(self, value: Mapping[str, Any], keys: tuple[str, ...], path: _Path) -> None:
        """Record the keys that there are not."""
        for key in value:
            if key not in keys:
                hint = did_you_mean(str(key), keys) or f"; known keys: {', '.join(keys)}"
                self.wrong((*path, key), f"unknown key{hint}")

    def region(self, name: str, path: _Path) -> bool:
        """Tell whether something is a region, or stands for all."""
        if name == EVERYWHERE or is_region(name):
            return True
        self.wrong(path, f"must be a region such as eu-central-1, or {EVERYWHERE} for all, found {_shown(name)}")
        return False

    def is_type(self, name: str, path: _Path) -> bool:
        """Tell whether something is an instance type."""
        if name in instances() or is_further_type(name):
            return True
        hint = did_you_mean(name, instances()) or "; check its name"
        self.wrong(path, f"unknown instance type {_shown(name)}{hint}")
        return False

    def item(self, name: str, path: _Path) -> str | None:
        """Return what has one price."""
        known = flat_items()
        if name in known:
            return name
        hint = did_you_mean(name, known) or f"; known ones: {', '.join(known)}"
        self.wrong(path, f"unknown item {_shown(name)}{hint}")
        return None

    def day(self, value: object, path: _Path) -> None:
        """Take the date of the prices."""
        try:
            self.date = datetime.date.fromisoformat(value if isinstance(value, str) else "").isoformat()
        except ValueError:
            found = "nothing" if value is None else _shown(value)
            self.wrong(path, f"must be the day on which the prices held, such as 2026-11-01, found {found}")

    def read(self) -> OwnPrices:
        """Return the prices; none where anything is wrong."""
        return OwnPrices() if self.problems else OwnPrices(self.instances, self.flat)


def read_prices(text: str, file: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    """Return the prices of a file, and what is wrong with it.

    Args:
        text: What stands in it.
        file: Its name.
    """
    return _of_csv(text, file) if file.lower().endswith(".csv") else _of_yaml(text, file)


def _of_yaml(text: str, file: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    try:
        found = list(read_documents(text))
    except YamlError as error:
        return OwnPrices(), (_problem(file, error.line, (), error.reason),)
    if len(found) != 1:
        reason = f"must be one YAML document, found {len(found)}"
        return OwnPrices(), (_problem(file, 1, (), reason),)
    reading = _Reading(file, source=file)
    _read_document(found[0], reading)
    lines = found[0].located.line
    repeated = [
        _problem(file, line, (), f"key {key!r} occurs twice; remove one") for line, key in found[0].duplicates
    ]
    wrong = [_problem(file, lines(path), path, reason) for path, reason in reading.problems]
    prices = OwnPrices() if repeated else reading.read()
    return prices, tuple(sorted([*repeated, *wrong], key=lambda problem: problem.line))


def _read_document(document: Document, reading: _Reading) -> None:
    top = reading.mapping(document.value, ())
    if not isinstance(document.value, Mapping):
        return
    reading.known(top, _TOP, ())
    reading.day(top.get("date"), ("date",))
    source = top.get("source", reading.file)
    if not isinstance(source, str):
        reading.wrong(("source",), f"must be a text, found {_shown(source)}")
    reading.source = str(source)
    for region, given in reading.mapping(top.get("regions", {}), ("regions",)).items():
        path = ("regions", region)
        if reading.region(region, path):
            _read_region(region, reading.mapping(given, path), path, reading)


def _read_region(region: str, given: Mapping[str, Any], path: _Path, reading: _Reading) -> None:
    reading.known(given, ("instances", "flat"), path)
    below = (*path, "instances")
    for name, ways in reading.mapping(given.get("instances", {}), below).items():
        here = (*below, name)
        if not reading.is_type(name, here):
            continue
        bought = reading.mapping(ways, here)
        reading.known(bought, tuple(WAYS), here)
        for key, way in WAYS.items():
            quote = reading.quote(bought[key], (*here, key)) if key in bought else None
            if quote:
                reading.instances[region, name, way] = quote
    below = (*path, "flat")
    for name, price in reading.mapping(given.get("flat", {}), below).items():
        item, usd = reading.item(name, (*below, name)), reading.number(price, (*below, name))
        if item and usd is not None:
            reading.flat[region, item] = _flat(item, usd, reading)


def _flat(item: str, usd: Decimal, reading: _Reading) -> Quote:
    return fixed_quote(per_hour(usd, flat_items()[item]), reading.date, reading.source)


def _of_csv(text: str, file: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    reading = _Reading(file)
    problems: list[Problem] = []
    rows = csv.DictReader(io.StringIO(text), restkey="", restval="", strict=True)
    try:
        missing = [name for name in (*COLUMNS, "date") if name not in (rows.fieldnames or ())]
        if missing:
            reason = f"must begin with a line of columns: {', '.join((*COLUMNS, 'date'))}, and source if you like"
            return OwnPrices(), (_problem(file, 1, (), f"{reason}; {', '.join(missing)} missing"),)
        for row in rows:
            reading.problems.clear()
            _read_row(row, reading)
            problems += [_problem(file, rows.line_num, path, reason) for path, reason in reading.problems]
    except csv.Error as error:
        problems.append(_problem(file, rows.reader.line_num, (), f"is not CSV: {error}"))
    return (OwnPrices() if problems else OwnPrices(reading.instances, reading.flat)), tuple(problems)


def _read_row(row: Mapping[str, Any], reading: _Reading) -> None:
    if row.get(""):
        reading.wrong((), "has more values than there are columns")
    reading.day(row["date"] or None, ("date",))
    reading.source = row.get("source") or reading.file
    numbers = {key: _parsed(row[key]) for key in RANGE if row[key]}
    region, name, bought = row["region"], row["item"], row["bought"]
    if not reading.region(region, ("region",)):
        return
    if bought:
        way = next((way for way in Buying if way == bought), None)
        if way is None:
            hint = did_you_mean(bought, map(str, Buying)) or f"; known ones: {', '.join(Buying)}"
            reading.wrong(("bought",), f"unknown way of buying {_shown(bought)}{hint}")
        quote = reading.quote(numbers, ())
        if reading.is_type(name, ("item",)) and way and quote:
            reading.instances[region, name, way] = quote
        return
    item, usd = reading.item(name, ("item",)), reading.number(numbers.get("usd"), ("usd",))
    if item and usd is not None:
        reading.flat[region, item] = _flat(item, usd, reading)


def _parsed(text: str) -> Decimal | str:
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return number if number.is_finite() else text


def _problem(file: str, line: int, path: _Path, reason: str) -> Problem:
    return Problem(file, line, "", "", field_path(path), reason, rule=RuleId.SETTINGS)


def _shown(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
