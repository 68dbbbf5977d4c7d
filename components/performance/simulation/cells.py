"""One value of a trace: a time, a count of pods, a number or a histogram."""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from .trace import Histogram, Reported

MOST_PODS = 1_000_000
_LARGEST = Decimal("1e15")
_NUMBER = re.compile(r"([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?\Z", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,9})?\Z", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,7}\Z", re.ASCII)
_LONGEST = 60
_INFINITE = ("+Inf", "Inf", "+inf", "inf")


class CellError(ValueError):
    """A value that a trace cannot have; the text says what is allowed, what was found and what to do."""


def read_time(value: object) -> int:
    """Return milliseconds."""
    text = _plain(value)
    if _SECONDS.match(text):
        return round(Decimal(text) * 1000)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None or len(text) < len("2026-01-01T00:00Z"):
        raise CellError(
            f"must be seconds such as 15 or 1767225600.5, or a time with its zone such as 2026-01-01T00:00:15Z, "
            f"found {shown(value)}; correct it"
        )
    return round(Decimal(str(time.timestamp())) * 1000)


def read_count(value: object) -> int:
    """Return a number of pods."""
    text = _plain(value)
    if not _COUNT.match(text) or int(text) > MOST_PODS:
        raise CellError(f"must be a number of pods from 0 to {MOST_PODS}, found {shown(value)}; correct it")
    return int(text)


def read_name(value: object) -> str:
    """Return the name of a target."""
    if not isinstance(value, str) or not value.strip():
        raise CellError(f"must be the name of a target, found {shown(value)}; write the name that the binding has")
    return value.strip()


def read_metric(value: object) -> dict[str, Reported]:
    """Return what the pods report of a metric: by pod, or one value for all of them under no name."""
    if isinstance(value, Mapping) and "pods" in value:
        pods = value["pods"]
        _only(value, ("pods",))
        if not isinstance(pods, Mapping):
            raise CellError(f"pods must be a map from pods to values, found {shown(pods)}; write {{pod: value}}")
        return {str(pod): _reported(each) for pod, each in pods.items()}
    return {"": _reported(value)}


def _reported(value: object) -> Reported:
    if not isinstance(value, Mapping):
        return Reported(_number(value))
    _only(value, ("buckets", "started"))
    started = value.get("started", "")
    if isinstance(started, Mapping | list):
        raise CellError(f"started must be the time when the pod started, found {shown(started)}; correct it")
    return Reported(_histogram(value.get("buckets")), str(started))


def _only(value: Mapping[str, object], known: tuple[str, ...]) -> None:
    others = [key for key in value if key not in known]
    if others:
        raise CellError(f"must have no key but {' and '.join(known)}, found {shown(others[0])}; remove it")


def _number(value: object) -> Decimal:
    text = _plain(value)
    if not _NUMBER.match(text) or Decimal(text) > _LARGEST:
        raise CellError(
            f"must be a number from 0 to {_LARGEST:.0e}, or in JSON lines a histogram {{buckets: {{upper bound: "
            f"count}}}}, found {shown(value)}; correct it, or leave it out where no pod answered"
        )
    return Decimal(text)


def _histogram(buckets: object) -> Histogram:
    if not isinstance(buckets, Mapping) or not buckets:
        raise CellError(f"buckets must be a map from upper bounds to counts, found {shown(buckets)}; write them")
    infinite = [key for key in buckets if key in _INFINITE]
    if len(infinite) != 1:
        raise CellError("buckets must have the upper bound +Inf, whose count is that of all observations; add it")
    finite = {_bound(key): _whole(count) for key, count in buckets.items() if key not in _INFINITE}
    if len(finite) != len(buckets) - 1:
        raise CellError("buckets has an upper bound twice; remove one of the two")
    bounds = (*sorted(finite), Decimal("Infinity"))
    counts = (*(finite[bound] for bound in bounds[:-1]), _whole(buckets[infinite[0]]))
    if list(counts) != sorted(counts):
        raise CellError(
            "the counts of buckets must not sink towards larger bounds: each counts the observations up to its bound"
            "; correct them"
        )
    return Histogram(bounds, counts)


def _bound(key: object) -> Decimal:
    text = str(key).strip()
    if not _NUMBER.match(text) or Decimal(text) > _LARGEST:
        raise CellError(f"an upper bound must be a number from 0, or +Inf, found {shown(key)}; correct it")
    return Decimal(text)


def _whole(value: object) -> int:
    number = _number(value)
    if number != number.to_integral_value():
        raise CellError(f"the count of a bucket must be a whole number, found {shown(value)}; correct it")
    return int(number)


def _plain(value: object) -> str:
    """Return a number or a text as it is written; nothing that is valid for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        return ""
    return str(value).strip()


def shown(value: object) -> str:
    """Return a value for a message, no longer than a line takes."""
    text = str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
