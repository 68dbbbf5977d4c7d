"""Custom prices, from the file of the setting prices."""

from dataclasses import replace
from pathlib import Path

from ....contract.documents.files import read_text
from ....contract.findings.ids import RuleId
from ....contract.problems import Problem
from ....plan.costs.price_file import read_prices
from ....plan.costs.prices import OwnPrices


def own_prices(path: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    """Return the prices in a file, and its problems; no prices without a file."""
    if not path:
        return OwnPrices(), ()
    problems: list[Problem] = []
    text = read_text(Path(path).read_bytes, path, problems)
    if text is not None:
        return read_prices(text, path)
    named = (
        replace(problem, reason=f"{problem.reason}; the setting prices refers to this file", rule=RuleId.SETTINGS)
        for problem in problems
    )
    return OwnPrices(), tuple(named)
