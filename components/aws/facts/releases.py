"""Releases of node images and add-ons that are pinned: AWS would otherwise choose once, and never again."""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ...api.tables import table


@functools.cache
def _facts() -> Mapping[str, Any]:
    loaded: dict[str, Any] = table(__package__, "releases.yaml")
    return MappingProxyType(loaded)


def image_release(image: str, version: str) -> str:
    """Return the pinned release of an image for a Kubernetes version, in EKS's words; empty where none is known."""
    found: str = _facts()["images"][image]["releases"].get(version, "")
    return found


def newest_version(image: str) -> str:
    """Return the newest Kubernetes version that a release of an image is pinned for."""
    *_, newest = _facts()["images"][image]["releases"]
    return str(newest)


def addon_release(name: str, version: str) -> str:
    """Return the pinned version of an add-on for a Kubernetes version; empty where none is known."""
    found: str = _facts()["addons"]["versions"].get(name, {}).get(version, "")
    return found
