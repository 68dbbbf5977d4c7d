"""The user that an image can run as.

The columns of a row; in an engine's folder, ``images`` defaults to the engine's own:

    images: repositories.
    user, group: numbers, because the kubelet cannot tell whether a user's name is root. Without a user it runs as
      root.
    until: first version that no longer runs as that user.
    home: whether it needs a writable home directory; env: further variables for that directory (``{home}``).
    reason: why root is needed, or the source of the user.

The rows were not verified by running the images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .versions import ALWAYS, VersionSpan


@dataclass(frozen=True, slots=True)
class ImageUser:
    """The user that an image runs as.

    Attributes:
        user: None for root.
        span: The versions that run as that user.
        home: Whether it needs a writable home directory.
        env: Variables to set, unless the template has them.
    """

    images: tuple[str, ...]
    reason: str
    user: int | None = None
    group: int | None = None
    span: VersionSpan = ALWAYS
    home: bool = False
    env: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Any], images: Sequence[str] = ()) -> "ImageUser":
        """Read a row; ``images`` are those of an engine."""
        return cls(
            images=tuple(row.get("images", images)),
            reason=row["reason"],
            user=row.get("user"),
            group=row.get("group"),
            span=VersionSpan.from_row(row),
            home=row.get("home", False),
            env=row.get("env", {}),
        )
