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


def fractional_devices(value: Any, path: Path = ()) -> Iterator[tuple[str, str]]:  # noqa: ANN401  any JSON
    """Yield path and reason of every fractional amount of an extended resource.

    The API server accepts it in a custom resource, whose schema allows any quantity, and rejects it in the pods
    (``validateResourceQuantityValue`` in ``pkg/apis/core/validation``), so that nothing would ever start.

    Args:
        value: A resource or part of one, in wire form. Every map ``limits`` or ``requests`` in it is checked.
        path: Path of the value.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _AMOUNTS and isinstance(inner, dict):
                for name, amount in inner.items():
                    # As in Kubernetes (IsExtendedResourceName).
                    is_extended = "/" in name and _NATIVE not in name and not name.startswith(_QUOTA)
                    # Kubernetes compares whole thousandths, rounded up, so that it accepts 0.9999 as 1.
                    if (
                        is_extended
                        and is_quantity(amount)
                        and (parse_quantity(amount) * 1000).to_integral_value(ROUND_CEILING) % 1000
                    ):
                        yield (
                            field_path((*path, key, name)),
                            f"must be a whole number, found {str(amount)!r}: devices cannot be divided, and the API "
                            "server refuses the pods; write whole devices",
                        )
            elif isinstance(inner, (dict, list)):
                yield from fractional_devices(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from fractional_devices(inner, (*path, index))
