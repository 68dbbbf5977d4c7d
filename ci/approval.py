"""What was approved is what is carried out: a digest of a preview, to compare with that of a later one.

Pulumi's own update plans (``preview --save-plan``, ``up --plan``) are marked experimental in its CLI, and a plan that
is kept as an artifact would hold every input; a digest gives nothing away, and what differs ends the deployment.
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
"""Parts of a state that change without anything being different."""


@dataclass(frozen=True, slots=True)
class Previewed:
    """What a preview comes to.

    Attributes:
        digest: The same for two previews that would do the same to the same resources.
        operations: How many resources are created, updated and so on.
    """

    digest: str
    operations: dict[str, int]

    @property
    def changes(self) -> int:
        """How many resources change."""
        return sum(self.operations.values())


def previewed(text: str) -> Previewed:
    """Read the output of ``pulumi preview --json``.

    Raises:
        PipelineError: it is something else, or the preview failed.
    """
    try:
        steps = list(_steps(json.loads(text)))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PipelineError("this is not what `pulumi preview --json` prints; look at its errors above") from None
    lines = sorted(json.dumps(step, sort_keys=True) for step in steps)
    operations = Counter(str(step[0]) for step in steps)
    return Previewed(hashlib.sha256("\n".join(lines).encode()).hexdigest(), dict(sorted(operations.items())))


def _steps(read: Mapping[str, Any]) -> Iterator[list[Any]]:
    """Yield what is done to which resource, from what to what."""
    for step in read.get("steps") or ():
        if step["op"] not in _SAME:
            sides = [_state(step.get(side)) for side in ("oldState", "newState")]
            yield [step["op"], step["urn"], *sides]


def _state(state: object) -> object:
    if not isinstance(state, dict):
        return None
    return {key: value for key, value in state.items() if key not in _UNDECIDED and key != "outputs"}


def compared(approved: str, now: Previewed) -> None:
    """Hold a preview against the one that was approved.

    Raises:
        PipelineError: it would do something else.
    """
    if approved != now.digest:
        raise PipelineError(
            "the preview is no longer the one that was approved: something else has changed in between, such as "
            f"another deployment. It would now do: {in_words(now)}. Run the workflow again and approve that"
        )


def in_words(found: Previewed) -> str:
    """Return the operations in words."""
    return ", ".join(f"{count} {word}" for word, count in found.operations.items()) or "nothing"
