"""Amounts of extended resources, such as GPUs, which Kubernetes counts in whole numbers."""

from collections.abc import Iterator
from decimal import ROUND_CEILING
from typing import Any

from ..contract.problems import field_path
from ..contract.quantity import is_quantity, parse_quantity

_AMOUNTS = ("limits", "requests")
_NATIVE = "kubernetes.io/"
_QUOTA = "requests."

Path = tuple[str | int, ...]


def fractional_devices(written: Any, path: Path = ()) -> Iterator[tuple[str, str]]:  # noqa: ANN401  any JSON
    """Yield the path and the reason of every amount of an extended resource that is not a whole number.

    The API server accepts such an amount in a custom resource, whose schema knows only quantities, and refuses it in
    the pods (``validateResourceQuantityValue`` in ``pkg/apis/core/validation``), so nothing would ever start.

    Args:
        written: A resource or a part of one, in wire form. Every map ``limits`` or ``requests`` in it is read.
        path: Where it is.
    """
    if isinstance(written, dict):
        for key, value in written.items():
            if key in _AMOUNTS and isinstance(value, dict):
                for name, amount in value.items():
                    if _is_extended(name) and is_quantity(amount) and not _is_whole(amount):
                        yield field_path((*path, key, name)), _reason(amount)
            elif isinstance(value, (dict, list)):
                yield from fractional_devices(value, (*path, key))
    elif isinstance(written, list):
        for index, value in enumerate(written):
            yield from fractional_devices(value, (*path, index))


def _is_extended(name: str) -> bool:
    """Tell whether Kubernetes takes a name for an extended resource (``IsExtendedResourceName``)."""
    return "/" in name and _NATIVE not in name and not name.startswith(_QUOTA)


def _is_whole(amount: str | int) -> bool:
    # Kubernetes compares whole thousandths, rounded up: 0.9999 is 1 to it.
    return (parse_quantity(amount) * 1000).to_integral_value(ROUND_CEILING) % 1000 == 0


def _reason(amount: str | int) -> str:
    return (
        f"must be a whole number, found {str(amount)!r}: devices cannot be divided, and the API server refuses the "
        "pods; write whole devices"
    )
