"""Snapshots as JSON, both ways.

The number of this form is in ``workbench/planning/ability.py``; it rises when another reader would read it wrongly.

pydantic does it from the dataclasses alone: decimals are text, so that no figure is rounded on its way; keys that
this version does not know are passed over, and fields that are missing take their defaults.
"""

from functools import cache

from pydantic import TypeAdapter, ValidationError

from .snapshot import Snapshot


def written(snapshot: Snapshot) -> bytes:
    """Return a snapshot as JSON."""
    return _adapter().dump_json(snapshot)


def read(text: bytes | str) -> Snapshot:
    """Return the snapshot that JSON describes.

    Raises:
        ValueError: it describes none.
    """
    try:
        return _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'snapshot'}: {first['msg']}") from None


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)
