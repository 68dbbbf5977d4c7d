"""What nodes and pods download: images and weights."""

from typing import NamedTuple

from .origins import ProblemSource


class Download(NamedTuple):
    """An image that nodes pull, or weights that pods download.

    Attributes:
        address: Reference of the image; or the repository, URL or path of the weights.
        by: What needs it, for messages.
        source: The resource whose pods download it; None for charts and for objects that are passed through.
        is_image: Whether it is an image.
    """

    address: str
    by: str
    source: ProblemSource | None = None
    is_image: bool = False
