"""Reads files with custom prices, in YAML or CSV. Every mistake is reported at its line.

A file with a mistake is not used at all.
"""

import csv
import datetime
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ...contract.clock import HOURS_PER_MONTH
from ...contract.documents.reader import Document, YamlError, read_documents
from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, did_you_mean, field_path
from ...fleet.cloud_providers import flat_items, is_region
from ...fleet.instances import instance, instances
from ...fleet.prices import EVERYWHERE, Buying, Quote, fixed_quote, per_hour
from ..sections.shapes import Read
from .prices import OwnPrices

_IMPLAUSIBLE = 100
"""Multiple of the list price above which a price is not that of an hour; a month has 730 hours."""
MOST = 1_000_000
"""Upper limit of hourly prices: anything above is a mistake, or an attempt to break the formatting of reports."""
WAYS = {
    "onDemand": Buying.ON_DEMAND,
    "spot": Buying.SPOT,
    "reserved": Buying.RESERVED,
    "reserved3Y": Buying.RESERVED_3Y,
    "capacityBlock": Buying.CAPACITY_BLOCK,
}
"""Purchase options by their key in YAML files."""
RANGE = ("usd", "low", "high")
COLUMNS = ("region", "item", "bought", *RANGE)
"""Columns of a CSV file, in addition to ``date`` and ``source``."""
_TOP = ("date", "source", "regions")
_Path = tuple[str | int, ...]


@dataclass(slots=True)
class _PriceReader:
    """Collects prices and mistakes of a file."""

    file: str
    date: str = ""
    source: str = ""
    instances: dict[tuple[str, str, str], Quote] = field(default_factory=dict)
    flat: dict[tuple[str, str], Quote] = field(default_factory=dict)
    problems: list[tuple[_Path, str]] = field(default_factory=list)

    def error(self, path: _Path, reason: str) -> None:
        self.problems.append((path, reason))

    def mapping(self, value: object, path: _Path) -> Mapping[str, Any]:
        if isinstance(value, Mapping):
            return value
        self.error(path, f"must be a map, found {_quoted(value)}")
        return {}

    def number(self, value: object, path: _Path) -> Decimal | None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            self.error(path, f"must be a number of US dollars, found {_quoted(value)}")
            return None
        usd = Decimal(str(value))
        if not 0 <= usd <= MOST:
            self.error(path, f"must be between 0 and {MOST}, found {_quoted(value)}")
            return None
        return usd

    def quote(self, value: object, path: _Path) -> Quote | None:
        """Parse a price: a number, or a range with ``usd``, which defaults to its upper end."""
        if not isinstance(value, Mapping):
            usd = self.number(value, path)
            return None if usd is None else fixed_quote(usd, self.date, self.source)
        self.known(value, RANGE, path)
        parsed = {key: self.number(value[key], (*path, key)) for key in RANGE if value.get(key) is not None}
        if not parsed:
            self.error(path, f"must have one of {', '.join(RANGE)}")
        if not parsed or None in parsed.values():
            return None
        numbers = {key: number for key, number in parsed.items() if number is not None}
        usd = numbers.get("usd", max(numbers.values()))
        low, high = numbers.get("low", usd), numbers.get("high", usd)
        if not low <= usd <= high:
            self.error(path, f"must not be below low or above high, found low {low}, usd {usd} and high {high}")
        return Quote(usd, low, high, self.date, self.source)

    def known(self, value: Mapping[str, Any], keys: tuple[str, ...], path: _Path) -> None:
        """Report unknown keys."""
        for key in value:
            if key not in keys:
                hint = did_you_mean(str(key), keys) or f"; known keys: {', '.join(keys)}"
                self.error((*path, key), f"unknown key{hint}")

    def region(self, name: str, path: _Path) -> bool:
        if name == EVERYWHERE or is_region(name):
            return True
        self.error(
            path, f"must be a region such as eu-central-1, or {EVERYWHERE} for all regions, found {_quoted(name)}"
        )
        return False

    def is_type(self, name: str, path: _Path) -> bool:
        if instance(name) is not None:
            return True
        hint = did_you_mean(name, instances()) or "; check its name, or describe it in instanceTypes"
        self.error(path, f"unknown instance type {_quoted(name)}{hint}")
        return False

    def plausible(self, name: str, quote: Quote | None, path: _Path) -> None:
        """Reject the price of a month, which would be shown as that of an hour."""
        node = instance(name)
        usual = node.usd_per_hour if node else None
        if quote and usual and quote.usd > usual * _IMPLAUSIBLE:
            hour = f"{quote.usd / HOURS_PER_MONTH:.4g}"
            self.error(
                path,
                f"must be US dollars an hour, found {quote.usd.normalize():f} for {name}, whose list price is "
                f"{usual:.4g}; write {hour} if that is the price of a month",
            )

    def item(self, name: str, path: _Path) -> str | None:
        known = flat_items()
        if name in known:
            return name
        hint = did_you_mean(name, known) or f"; known ones: {', '.join(known)}"
        self.error(path, f"unknown item {_quoted(name)}{hint}")
        return None

    def day(self, value: object, path: _Path) -> None:
        try:
            self.date = datetime.date.fromisoformat(value if isinstance(value, str) else "").isoformat()
        except ValueError:
            found = "nothing" if value is None else _quoted(value)
            self.error(path, f"must be the date of the prices, such as 2026-11-01, found {found}")

    def read(self) -> OwnPrices:
        return OwnPrices() if self.problems else OwnPrices(self.instances, self.flat)


def own_prices(path: str, file: str, read: Read | None) -> tuple[OwnPrices, tuple[Problem, ...]]:
    """Return the prices in a file, and its problems; no prices without a file.

    Args:
        path: The setting prices; empty without a file.
        file: File of the settings, for messages.
        read: Reads a file; None if files must not be read.
    """
    if not path or read is None:
        return OwnPrices(), ()
    try:
        text = read(path)
    except OSError as error:
        reason = f"{path} cannot be read: {error.strerror or error}; correct the path"
    except ValueError:
        reason = f"{path} is not a text file; set it to a file with prices in YAML or CSV"
    else:
        return read_prices(text, path)
    return OwnPrices(), (_problem(file, 0, ("prices",), reason),)


def read_prices(text: str, file: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    """Parse a price file; return the prices and the problems.

    Args:
        text: Content of the file.
        file: Its name, whose suffix determines the format.
    """
    return _of_csv(text, file) if file.lower().endswith(".csv") else _of_yaml(text, file)


def _of_yaml(text: str, file: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    try:
        documents = list(read_documents(text))
    except YamlError as error:
        return OwnPrices(), (_problem(file, error.line, (), error.reason),)
    if len(documents) != 1:
        reason = f"must be one YAML document, found {len(documents)}"
        return OwnPrices(), (_problem(file, 1, (), reason),)
    reader = _PriceReader(file, source=file)
    _read_document(documents[0], reader)
    lines = documents[0].located.line
    repeated = [
        _problem(file, line, (), f"key {key!r} occurs twice; remove one") for line, key in documents[0].duplicates
    ]
    wrong = [_problem(file, lines(path), path, reason) for path, reason in reader.problems]
    prices = OwnPrices() if repeated else reader.read()
    return prices, tuple(sorted([*repeated, *wrong], key=lambda problem: problem.line))


def _read_document(document: Document, reader: _PriceReader) -> None:
    top = reader.mapping(document.value, ())
    if not isinstance(document.value, Mapping):
        return
    reader.known(top, _TOP, ())
    reader.day(top.get("date"), ("date",))
    source = top.get("source", reader.file)
    if not isinstance(source, str):
        reader.error(("source",), f"must be a text, found {_quoted(source)}")
    reader.source = str(source)
    for region, section in reader.mapping(top.get("regions", {}), ("regions",)).items():
        path = ("regions", region)
        if reader.region(region, path):
            _read_region(region, reader.mapping(section, path), path, reader)


def _read_region(region: str, section: Mapping[str, Any], path: _Path, reader: _PriceReader) -> None:
    reader.known(section, ("instances", "flat"), path)
    below = (*path, "instances")
    for name, purchases in reader.mapping(section.get("instances", {}), below).items():
        type_path = (*below, name)
        if not reader.is_type(name, type_path):
            continue
        bought = reader.mapping(purchases, type_path)
        reader.known(bought, tuple(WAYS), type_path)
        for key, option in WAYS.items():
            quote = reader.quote(bought[key], (*type_path, key)) if key in bought else None
            reader.plausible(name, quote, (*type_path, key))
            if quote:
                reader.instances[region, name, option] = quote
    below = (*path, "flat")
    for name, price in reader.mapping(section.get("flat", {}), below).items():
        item, usd = reader.item(name, (*below, name)), reader.number(price, (*below, name))
        if item and usd is not None:
            reader.flat[region, item] = _flat(item, usd, reader)


def _flat(item: str, usd: Decimal, reader: _PriceReader) -> Quote:
    return fixed_quote(per_hour(usd, flat_items()[item]), reader.date, reader.source)


def _of_csv(text: str, file: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    reader = _PriceReader(file)
    problems: list[Problem] = []
    rows = csv.DictReader(io.StringIO(text), restkey="", restval="", strict=True)
    try:
        missing = [name for name in (*COLUMNS, "date") if name not in (rows.fieldnames or ())]
        if missing:
            reason = f"must begin with a line of columns: {', '.join((*COLUMNS, 'date'))}, and optionally source"
            return OwnPrices(), (_problem(file, 1, (), f"{reason}; {', '.join(missing)} missing"),)
        for row in rows:
            reader.problems.clear()
            _read_row(row, reader)
            problems += [_problem(file, rows.line_num, path, reason) for path, reason in reader.problems]
    except csv.Error as error:
        problems.append(_problem(file, rows.reader.line_num, (), f"is not CSV: {error}"))
    return (OwnPrices() if problems else OwnPrices(reader.instances, reader.flat)), tuple(problems)


def _read_row(row: Mapping[str, Any], reader: _PriceReader) -> None:
    if row.get(""):
        reader.error((), "has more values than columns")
    reader.day(row["date"] or None, ("date",))
    reader.source = row.get("source") or reader.file
    numbers = {key: _parsed(row[key]) for key in RANGE if row[key]}
    region, name, bought = row["region"], row["item"], row["bought"]
    if not reader.region(region, ("region",)):
        return
    if bought:
        option = next((option for option in Buying if option == bought), None)
        if option is None:
            hint = did_you_mean(bought, map(str, Buying)) or f"; known ones: {', '.join(Buying)}"
            reader.error(("bought",), f"unknown purchase option {_quoted(bought)}{hint}")
        quote = reader.quote(numbers, ())
        if reader.is_type(name, ("item",)) and option and quote:
            reader.plausible(name, quote, ("usd",))
            reader.instances[region, name, option] = quote
        return
    item, usd = reader.item(name, ("item",)), reader.number(numbers.get("usd"), ("usd",))
    if item and usd is not None:
        reader.flat[region, item] = _flat(item, usd, reader)


def _parsed(text: str) -> Decimal | str:
    try:
        number = Decimal(text)
    except ArithmeticError:
        return text
    return number if number.is_finite() else text


def _problem(file: str, line: int, path: _Path, reason: str) -> Problem:
    return Problem(file=file, line=line, path=field_path(path), reason=reason, rule=RuleId.SETTINGS)


def _quoted(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
