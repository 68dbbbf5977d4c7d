"""Amounts of extended resources, such as GPUs, which must be whole numbers."""

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
    """Yield path and reason of every fractional amount of an extended resource.

    The API server accepts it in a custom resource, whose schema only knows quantities, and rejects it in the pods
    (``validateResourceQuantityValue`` in ``pkg/apis/core/validation``), so that nothing would ever start.

    Args:
        written: A resource or part of one, in wire form. Every map ``limits`` or ``requests`` in it is checked.
        path: Path of ``written``.
    """
    if isinstance(written, dict):
        for key, value in written.items():
            if key in _AMOUNTS and isinstance(value, dict):
                for name, amount in value.items():
                    # Kubernetes compares whole thousandths, rounded up, so that it takes 0.9999 for 1.
                    if (
                        _is_extended(name)
                        and is_quantity(amount)
                        and (parse_quantity(amount) * 1000).to_integral_value(ROUND_CEILING) % 1000
                    ):
                        yield (
                            field_path((*path, key, name)),
                            f"must be a whole number, found {str(amount)!r}: devices cannot be divided, and the API "
                            "server refuses the pods; write whole devices",
                        )
            elif isinstance(value, (dict, list)):
                yield from fractional_devices(value, (*path, key))
    elif isinstance(written, list):
        for index, value in enumerate(written):
            yield from fractional_devices(value, (*path, index))


def _is_extended(name: str) -> bool:
    """Return whether Kubernetes treats a name as an extended resource (``IsExtendedResourceName``)."""
    return "/" in name and _NATIVE not in name and not name.startswith(_QUOTA)
