"""Images of whole pods (Kthena spec 1.4, V3): a rule over them would cost the API server too much."""

from collections.abc import Iterator, Mapping
from typing import Any

from ..types.values import is_image


def bad_images(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the images of a pod that no registry can have: where each is below the pod, and why."""
    for group in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(group) or ()):
            image = container.get("image") or ""
            if not is_image(image):
                yield f"{group}[{index}].image", f"must be an image reference, without a space, found {image!r}"
