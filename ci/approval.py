"""Ensures that what was approved is deployed: compares the digests of two previews.

Pulumi's update plans (``preview --save-plan``, ``up --plan``) are experimental, and a plan stored as an artifact
would contain every input. A digest reveals nothing; any difference stops the deployment.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass

from .errors import PipelineError

_SAME = frozenset({"same", "read", "refresh"})
_IGNORED = ("created", "modified", "sourcePosition", "stackTrace", "outputs")
"""Properties of a state that can change without a difference in the resource."""


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

    def state(properties: object) -> object:
        if not isinstance(properties, dict):
            return None
        return {key: value for key, value in properties.items() if key not in _IGNORED}

    try:
        steps = [
            [step["op"], step["urn"], state(step.get("oldState")), state(step.get("newState"))]
            for step in json.loads(text).get("steps") or ()
            if step["op"] not in _SAME
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PipelineError("the input is not the output of `pulumi preview --json`; see its errors above") from None
    lines = sorted(json.dumps(step, sort_keys=True) for step in steps)
    operations = Counter(str(step[0]) for step in steps)
    return Previewed(hashlib.sha256("\n".join(lines).encode()).hexdigest(), dict(sorted(operations.items())))


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


def in_words(preview: Previewed) -> str:
    return ", ".join(f"{count} {operation}" for operation, count in preview.operations.items()) or "nothing"
