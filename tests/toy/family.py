"""The toy as a family."""

from collections.abc import Iterator
from contextlib import contextmanager

from components.contract.kinds import Kind
from components.families import FAMILIES
from components.families.family import Family, Member

from .rendering import render_blend, render_nudge, render_pair
from .types import Blend, Nudge, Pair

FAMILY = Family(
    name="toy",
    package="tests.toy",
    members=(
        Member(
            Kind("toy.example/v1", "Pair", Pair, "pairs", namespaced=True),
            render_pair,
            serves=True,
            component="Pair",
        ),
        Member(Kind("toy.example/v1", "Blend", Blend, "blends", namespaced=True), render_blend, serves=True),
        Member(Kind("toy.example/v1", "Nudge", Nudge, "nudges", namespaced=True), render_nudge),
    ),
)


@contextmanager
def registered() -> Iterator[None]:
    """The one line that a family adds to components/families/__init__.py, for a while."""
    FAMILIES.append(FAMILY)
    try:
        yield
    finally:
        FAMILIES.remove(FAMILY)
