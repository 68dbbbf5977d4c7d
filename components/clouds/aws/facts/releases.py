"""Pinned releases of node images and add-ons. Without a pin, AWS chooses one at creation and never updates it."""

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
    """Return the pinned release of an image for a Kubernetes version, as EKS spells it; empty if none is known."""
    return str(_facts()["images"][image]["releases"].get(version, ""))


def image_date(image: str) -> datetime.date:
    """Return the publication date of an image's pinned release."""
    return datetime.date.fromisoformat(_facts()["images"][image]["date"])


def addons_date() -> datetime.date:
    """Return the date of the pinned add-on versions; the first of the month if the day is unknown."""
    return datetime.date.fromisoformat(_facts()["addons"]["date"])


def newest_version(image: str) -> str:
    """Return the newest Kubernetes version with a pinned release of an image."""
    *_, newest = _facts()["images"][image]["releases"]
    return str(newest)


def addon_release(name: str, version: str) -> str:
    """Return the pinned version of an add-on for a Kubernetes version; empty if none is known."""
    return str(_facts()["addons"]["versions"].get(name, {}).get(version, ""))
