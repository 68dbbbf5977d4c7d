"""Fields that an apply takes from other managers, and the programs that would set them again."""

import http
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from toolkit.kube import Kube, KubeError
from toolkit.kube.managed_fields import is_controller

from ...inspecting.writers import OtherWriter, writers_of

_CONFLICT = re.compile(r'conflict with "([^"]+)"')
"""The message of the API server for a field with another value that a manager owns (``FieldManagerConflict``)."""
_SHOWN = 3


def writers_in(text: str) -> list[str]:
    """Return lines about the programs whose fields an error of the API server or of Pulumi's provider names."""
    nameless: dict[str, Any] = {"metadata": {}}
    return [writer.warning for writer in writers_of(nameless, _CONFLICT.findall(text))]


def lines_about_writers(objects: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each other program that applies some of the objects."""
    titles: dict[OtherWriter, list[str]] = {}
    for live in objects:
        for writer in writers_of(live):
            titles.setdefault(writer, []).append(_title(live))
    for writer, written in titles.items():
        more = f" and {len(written) - _SHOWN} more" if len(written) > _SHOWN else ""
        yield f"{', '.join(written[:_SHOWN])}{more}: {writer.warning}"


def _title(live: Mapping[str, Any]) -> str:
    metadata = live["metadata"]
    return f"{live['kind']} {'/'.join(filter(None, (metadata.get('namespace'), metadata['name'])))}"


class Applied(NamedTuple):
    """The result of an apply.

    Attributes:
        live: The object as the server returned it.
        created: Whether it was created.
        taken: Lines about the fields that other managers had set to other values, and what sets them again.
    """

    live: dict[str, Any]
    created: bool
    taken: tuple[str, ...] = ()


def apply_over(kube: Kube, obj: Mapping[str, Any], manager: str, *, dry_run: bool = False) -> Applied:
    """Apply an object, also over fields that other managers set to other values."""
    try:
        return Applied(*kube.server_side_apply(obj, manager=manager, force=False, dry_run=dry_run))
    except KubeError as error:
        taken = _taken_in(error)
        if not taken:
            raise
    live, created = kube.server_side_apply(obj, manager=manager, dry_run=dry_run)
    return Applied(live, created, tuple(_lines(taken, live)))


def _taken_in(error: KubeError) -> dict[str, list[str]]:
    """Return the fields of each manager that an apply conflicts with; empty for any other error."""
    taken: dict[str, list[str]] = {}
    for path, message in error.causes if error.status == http.HTTPStatus.CONFLICT else ():
        if match := _CONFLICT.match(message):
            taken.setdefault(match[1], []).append(path.removeprefix("."))
    return taken


def _lines(taken: Mapping[str, list[str]], live: dict[str, Any]) -> Iterator[str]:
    title = _title(live)
    for manager, fields in taken.items():
        more = f" and {len(fields) - _SHOWN} more" if len(fields) > _SHOWN else ""
        again = ", a controller, which may set it again" if is_controller(manager) else ""
        yield f"{title}: took {', '.join(fields[:_SHOWN])}{more} over from {manager}{again}"
    yield from (f"{title}: {writer.warning}" for writer in writers_of(live, taken))
