"""Models by the name that someone types: the catalog's, whatever its case and publisher."""

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from ...checks.memory.catalog import names
from ...checks.memory.misspelling import misspelled
from ...checks.memory.naming import estimate
from ...contract.problems import nearest_names

_MOST_MATCHES = 5
_LONGEST_NAME = 200
_SIMILAR = (0.95, 0.6)
"""Least similarity of names that differ in a letter or so, and of others that are worth listing."""
_PARAMETERS = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>[bmt])", re.IGNORECASE)
_UNITS: Mapping[str, int] = {"m": 10**6, "b": 10**9, "t": 10**12}
_LEAST, _MOST = 10**8, 10**13


def catalog_name(text: str) -> str | tuple[str, ...]:
    """Return the name of the one known model that a text means, or the models that it may mean.

    The case and the publisher may be missing or differ; the rest of the name must be the same.
    """
    for form in (_plain, _renamed):
        typed = form(text)
        exact = [name for name in names() if form(name) == typed]
        if len(exact) == 1:
            return exact[0]
        # A publisher that is not the known one may serve other weights under the same name.
        same = [] if "/" in typed else [name for name in names() if form(name).rpartition("/")[2] == typed]
        if same:
            return same[0] if len(same) == 1 else tuple(same)
    return near_names(text)


def served_name(text: str) -> str | tuple[str, ...]:
    """Return the name of the model that a text means, or the models of the catalog that it may mean.

    A repository that is not in the catalog is estimated from its name, as in a plan.
    """
    found = catalog_name(text)
    if isinstance(found, str) or "/" not in text:
        return found
    near = misspelled(text)
    if near:
        return (near,)
    return text if estimate(text) is not None else found


def near_names(text: str) -> tuple[str, ...]:
    """Return the known models with the most similar names, the nearest first."""
    own = _plain(text[:_LONGEST_NAME]).rpartition("/")[2]
    by_own = {_plain(name).rpartition("/")[2]: name for name in sorted(names(), reverse=True)}

    # The longest name that is part of the text, and the shortest names that the text is part of.
    contained = [key for key in by_own if key in own]
    contained.sort(key=lambda key: (-len(key), key))
    containing = [key for key in by_own if own and own in key]
    containing.sort(key=lambda key: (len(key), key))

    # A typo is more probable than a part of a name, and a part more than a name that is only similar.
    typos, close = (nearest_names(own, by_own, _MOST_MATCHES, least) for least in _SIMILAR)
    keys = list(dict.fromkeys((*typos[:1], *contained[:1], *containing, *close)))
    return tuple(by_own[key] for key in keys[:_MOST_MATCHES])


def named_by_parameters(text: str) -> str:
    """Return the name of a model of which only the number of parameters is known, such as ``70B``.

    Raises:
        ValueError: It is not a number with a unit; the message says what is accepted.
    """
    parameter_count(text)
    return f"unnamed/model-{text.strip().upper()}"


def parameter_count(text: str) -> int:
    """Return a number of parameters such as ``70B``.

    Raises:
        ValueError: It is not a number with a unit; the message says what is accepted.
    """
    match = _PARAMETERS.fullmatch(text.strip())
    try:
        number = Decimal(match["number"]) * _UNITS[match["unit"].lower()] if match else Decimal(0)
    except InvalidOperation:
        number = Decimal(0)
    if not _LEAST <= number <= _MOST:
        raise ValueError(f"must be a number of parameters such as 7B, 0.6B or 1T, found {text!r}")
    return int(number)


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def _renamed(name: str) -> str:
    """Omit what the repositories of Meta had before the name of a model; Hugging Face redirects from there."""
    publisher, slash, own = _plain(name).rpartition("/")
    return publisher + slash + own.removeprefix("meta-")
