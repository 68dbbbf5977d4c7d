"""Serializes snapshots as JSON.

The version of the format is in ``workbench/planning/ability.py``; raise it when older readers would misread the JSON.

pydantic derives the format from the dataclasses: decimals are strings, so that no figure is rounded; unknown keys are
ignored, and missing fields take their defaults.
"""

from functools import cache

from pydantic import TypeAdapter, ValidationError

from .snapshot import Snapshot


def written(snapshot: Snapshot) -> bytes:
    return _adapter().dump_json(snapshot)


def read(text: bytes | str) -> Snapshot:
    """Parse a snapshot.

    Raises:
        ValueError: The JSON is not a snapshot.
    """
    try:
        return _adapter().validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc'])) or 'snapshot'}: {first['msg']}") from None


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    return TypeAdapter(Snapshot)
