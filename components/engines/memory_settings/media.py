"""Reads what requests may contain beside text."""

import re
from typing import Any

from ..flags.values import json_object
from ..memory.encoders import MediaLimits
from ..numbers import parse_int
from ..settings import Setting
from .settings import SettingsReader


def media_limits(settings: SettingsReader) -> MediaLimits:
    """Return the limits of a server; those that cannot be read count as not set."""
    counts = _counts(settings.text(Setting.MEDIA_LIMITS) or "")
    options = json_object(settings.text(Setting.MEDIA_OPTIONS) or "") or {}
    size = options.get("size")
    longest = size.get("longest_edge") if isinstance(size, dict) else None
    return MediaLimits(
        images=counts.get("image"),
        videos=counts.get("video"),
        pixels=_number(options.get("max_pixels", longest)),
        is_text=settings.is_on(Setting.TEXT_ONLY),
    )


def _counts(text: str) -> dict[str, int]:
    """Return the numbers by kind in ``{"image": 2, "video": {"count": 1}}``, or in ``image=2,video=1`` of 0.8."""
    document: dict[str, Any] | None = json_object(text)
    if document is None:
        document = {name: parse_int(number) for name, number in re.findall(r"(\w+)=(\d+)", text)}
    counts: dict[str, int] = {}
    for kind, value in document.items():
        number = _number(value.get("count") if isinstance(value, dict) else value)
        if number is not None:
            counts[kind] = number
    return counts


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
