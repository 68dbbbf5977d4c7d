"""Prices of one's own, read from the file that settings name."""

from pathlib import Path

from ...api.documents.files import text_of
from ...api.problems import Problem
from ...costs.price_file import read_prices
from ...costs.prices import OwnPrices


def own_prices(path: str) -> tuple[OwnPrices, tuple[Problem, ...]]:
    """Return the prices of a file, and what is wrong with it; none where no file is named."""
    if not path:
        return OwnPrices(), ()
    problems: list[Problem] = []
    text = text_of(Path(path).read_bytes, path, problems)
    return read_prices(text, path) if text is not None else (OwnPrices(), tuple(problems))
