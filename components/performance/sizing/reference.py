"""Reference figures of models on accelerators, for those who have no benchmark of their own yet (WVA spec 12)."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ...contract.tables import load_table
from .cases import Profile


@dataclass(frozen=True, slots=True)
class ReferenceSource:
    """Where figures come from.

    Attributes:
        title: Where they were published.
        date: When, as ``YYYY-MM-DD``.
        measured: Whether a benchmark gave them; otherwise they are sample data.
        tokens: Tokens of a request for which the largest batch is sized; None where nobody says.
        doubt: Why they are uncertain.
    """

    title: str
    date: str
    measured: bool
    tokens: int | None
    doubt: str


@dataclass(frozen=True, slots=True)
class ReferenceProfile:
    """What was published of a model on an accelerator, and how far from the truth that may be.

    Attributes:
        model: Name of the model in the table.
        profile: The figures as published.
        low: The fastest replica that the sources speak for: the lowest beta, with the batch that goes with it.
        high: The slowest one.
    """

    model: str
    profile: Profile
    low: Profile
    high: Profile
    source: ReferenceSource


def reference_profiles(model: str) -> tuple[ReferenceProfile, ...]:
    """Return what is known of a model, by the name under which clients ask for it or that of the hub.

    The organisation in front, case, and words such as ``Instruct`` that change no speed do not matter; sizes,
    generations and quantizations do.
    """
    return _profiles().get(_key(model), ())


def known_models() -> tuple[str, ...]:
    """Return the names of the models of which something is known."""
    return tuple(sorted(entry["name"] for entry in load_table(__package__, "reference.yaml")["models"]))


_SAME_SPEED = frozenset(("base", "bf16", "chat", "fp16", "hf", "instruct", "it", "meta"))
"""Words of names that say nothing of how many weights there are, and in which precision."""
_BREAK = re.compile(r"[-_ ]+|(?<=\d)\.(?=\d)(?!\d+b)|(?<=[a-z]{3})(?=\d)")
"""Between words: ``llama3.1-8b`` has four; a size such as ``1.5b`` is one."""


def _key(name: str) -> tuple[str, ...]:
    words = _BREAK.split(name.strip().rstrip("/").rpartition("/")[2].lower())
    return tuple(word for word in words if word not in _SAME_SPEED)


@functools.cache
def _profiles() -> Mapping[tuple[str, ...], tuple[ReferenceProfile, ...]]:
    facts = load_table(__package__, "reference.yaml")
    found = {}
    for model in facts["models"]:
        profiles = tuple(_read(model, row, facts["sources"]) for row in model["profiles"])
        found.update(dict.fromkeys(_keys(model), profiles))
    return MappingProxyType(found)


def _keys(model: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    yield from map(_key, (model["name"], *model.get("also", ())))


def _read(model: Mapping[str, Any], row: Mapping[str, Any], sources: Mapping[str, Any]) -> ReferenceProfile:
    source = sources[row.get("source") or model["source"]]
    profile = Profile(row["accelerator"], row["count"], row["alpha"], row["beta"], row["batch"])
    beta = row.get("low_beta", round(profile.beta * source.get("beta", 1), 6))
    return ReferenceProfile(
        model=model["name"],
        profile=profile,
        low=replace(profile, beta=beta, batch=profile.batch * source.get("batch", 1)),
        high=replace(profile, beta=row.get("high_beta", profile.beta)),
        source=ReferenceSource(
            source["title"], source["date"], source["measured"], source.get("tokens"), source["doubt"]
        ),
    )
