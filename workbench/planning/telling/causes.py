"""Why replicas restart, in a few words: a reader wants to know which part changes, and finds the fields below."""

import re
from collections import Counter
from collections.abc import Iterable

from components.fleet.shapes import SHAPES
from components.plan.review.differences import parse_path

from .figures import counted

_TEMPLATES = (
    *((f"{each.path}.", f"{each.role} " if each.role else "") for shape in SHAPES for each in shape.templates),
    *((f"{shape.restarted_by}.", "") for shape in SHAPES),
)
"""The beginnings of fields whose change replaces pods, and whose pods these are, the longest first."""
_LISTS = ("containers", "initContainers", "volumes")
_MOST, _LONGEST = 3, 60


def short_causes(because: Iterable[str]) -> tuple[str, ...]:
    """Return the parts that changed instead of all their fields, and how many more there are.

    Args:
        because: Paths of fields, and sentences in the place of them.
    """
    parts = Counter(map(_part, because))
    shown = [
        part
        if number == 1 or " " in part.removeprefix("leader ").removeprefix("worker ")
        else f"{part} ({counted(number, 'field')})"
        for part, number in parts.items()
    ]
    left = sum(list(parts.values())[_MOST:])
    return (*shown[:_MOST], *([f"and {counted(left, 'more field')}"] if left else []))


def is_field(cause: str) -> bool:
    """Whether a short cause is a field of an object, and not a sentence."""
    return re.fullmatch(r"(leader |worker )?[^ ]+( \(\d+ fields\))?", cause) is not None


def _part(cause: str) -> str:
    """Return the part that a field is of: ``containers[main].args``, ``nodeSelector``, ``metadata.labels``."""
    prefix, who = next((each for each in _TEMPLATES if cause.startswith(each[0])), ("", ""))
    if " " in cause and not prefix:
        return cause
    steps = [*parse_path(cause.removeprefix(prefix))]
    if prefix and steps[:1] == ["spec"]:
        steps = steps[1:]
    if steps[:1] and steps[0] in _LISTS and len(steps) > 1:
        steps = [f"{steps[0]}[{steps[1]}]", *(_word(step) for step in steps[2:3])]
    elif steps[:1] == ["metadata"] or not prefix:
        steps = [*map(_word, steps[:2])]
    else:
        steps = steps[:1]
    text = who + ".".join(steps)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _word(step: str) -> str:
    return step if re.fullmatch(r"[\w-]+", step) else f'["{step}"]'
