"""Releases of node images and add-ons that are pinned: AWS would otherwise choose once, and never again."""

import datetime
import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ....contract.tables import load_table


@functools.cache
def _facts() -> Mapping[str, Any]:
    loaded: dict[str, Any] = load_table(__package__, "releases.yaml")
    return MappingProxyType(loaded)


def image_release(image: str, version: str) -> str:
    """Return the pinned release of an image for a Kubernetes version, in EKS's words; empty where none is known."""
    found: str = _facts()["images"][image]["releases"].get(version, "")
    return found


def image_date(image: str) -> datetime.date:
    """Return when the pinned release of an image was published."""
    return datetime.date.fromisoformat(_facts()["images"][image]["date"])


def addons_date() -> datetime.date:
    """Return when the pinned versions of add-ons were current; the first day of the month where no day is known."""
    return datetime.date.fromisoformat(_facts()["addons"]["date"])


def newest_version(image: str) -> str:
    """Return the newest Kubernetes version that a release of an image is pinned for."""
    *_, newest = _facts()["images"][image]["releases"]
    return str(newest)


def addon_release(name: str, version: str) -> str:
    """Return the pinned version of an add-on for a Kubernetes version; empty where none is known."""
    found: str = _facts()["addons"]["versions"].get(name, {}).get(version, "")
    return found
