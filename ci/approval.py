"""Ensures that what was approved is deployed: compares the digests of two previews.

Pulumi's update plans (``preview --save-plan``, ``up --plan``) are experimental, and a plan stored as an artifact
would contain every input. A digest reveals nothing; any difference stops the deployment.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import PipelineError

_SAME = frozenset({"same", "read", "refresh"})
_UNDECIDED = ("created", "modified", "sourcePosition", "stackTrace")
"""Properties of a state that change without a difference in the resource."""


@dataclass(frozen=True, slots=True)
class Previewed:
    """Summary of a preview.

    Attributes:
        digest: Equal for two previews with the same operations on the same resources.
        operations: Number of resources by operation.
    """

    digest: str
    operations: dict[str, int]

    @property
    def changes(self) -> int:
        """Number of resources that change."""
        return sum(self.operations.values())


def previewed(text: str) -> Previewed:
    """Read the output of ``pulumi preview --json``.

    Raises:
        PipelineError: the text is something else, or the preview failed.
    """
    try:
        steps = list(_steps(json.loads(text)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PipelineError("the input is not the output of `pulumi preview --json`; see its errors above") from None
    lines = sorted(json.dumps(step, sort_keys=True) for step in steps)
    operations = Counter(str(step[0]) for step in steps)
    return Previewed(hashlib.sha256("\n".join(lines).encode()).hexdigest(), dict(sorted(operations.items())))


def _steps(read: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield operation, URN, old state and new state of every changed resource."""
    for step in read.get("steps") or ():
        if step["op"] not in _SAME:
            sides = [_state(step.get(side)) for side in ("oldState", "newState")]
            yield [step["op"], step["urn"], *sides]


def _state(state: object) -> object:
    if not isinstance(state, dict):
        return None
    return {key: value for key, value in state.items() if key not in _UNDECIDED and key != "outputs"}


def compared(approved: str, now: Previewed) -> None:
    """Compare a preview with the approved one.

    Raises:
        PipelineError: its operations differ.
    """
    if approved != now.digest:
        raise PipelineError(
            "the preview differs from the approved one, because something changed in between, such as another "
            f"deployment. The operations are now: {in_words(now)}. Run the workflow again, and approve the new "
            "preview"
        )


def in_words(found: Previewed) -> str:
    return ", ".join(f"{count} {word}" for word, count in found.operations.items()) or "nothing"
