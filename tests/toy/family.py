"""The toy as a family."""

from components.contract.kinds import Kind
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
