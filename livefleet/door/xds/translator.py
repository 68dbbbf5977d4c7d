"""Translate the rendered objects to Envoy's configuration with Envoy Gateway's code, in a program of its own."""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.errors import UserError

from ...fleet import Object
from ..ai.alteration import Xds

_UNKNOWN_GROUPS = ("cert-manager.io",)
"""Groups of objects that Envoy Gateway does not read: other controllers turn them into Secrets."""
_LINES = 15
"""Maximum lines of an error message."""


class TranslationError(UserError):
    """Envoy Gateway rejected the objects."""


@dataclass(frozen=True, slots=True)
class Translation:
    """Envoy Gateway's translation of objects.

    Attributes:
        xds: Envoy's resources.
        assignments: Endpoints of EDS clusters, by name of the cluster.
        bootstrap: Bootstrap of the proxies.
        problems: Object, reason and message of each condition with status False.
    """

    xds: Xds
    assignments: Mapping[str, Object]
    bootstrap: Object
    problems: tuple[str, ...] = ()


def translate(translator: Path, objects: Iterable[Object]) -> Translation:
    """Translate the objects of the gateway, with the Services and Secrets that they reference.

    Args:
        translator: The program.
        objects: Without those of the AI gateway.

    Raises:
        TranslationError: Envoy Gateway rejected an object; the message is its own.
    """
    known = [body for body in objects if body["apiVersion"].partition("/")[0] not in _UNKNOWN_GROUPS]
    answer: dict[str, Any] = json.loads(_run(translator, known))
    problems = tuple(_problems(answer["objects"]))
    if not answer["proxies"]:
        raise TranslationError(
            "Envoy Gateway made nothing of the gateway" + "".join(f"\n{line}" for line in problems)
        )
    proxy = answer["proxies"][0]
    return Translation(
        xds={"listeners": proxy["listeners"], "routes": proxy["routes"], "clusters": proxy["clusters"]},
        assignments={endpoints["clusterName"]: endpoints for endpoints in proxy["endpoints"]},
        bootstrap=proxy["bootstrap"],
        problems=problems,
    )


def _run(translator: Path, objects: list[Object]) -> str:
    # It reads a stream of YAML documents, and JSON is YAML.
    documents = "\n---\n".join(json.dumps(body, sort_keys=True) for body in objects)
    done = subprocess.run([str(translator)], input=documents, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reasons = list(dict.fromkeys(line for line in done.stderr.splitlines() if line.strip()))[:_LINES]
        raise TranslationError("Envoy Gateway refused the objects of the door:\n" + "\n".join(reasons))
    return done.stdout


def _problems(answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the conditions with status False, with their object."""
    for group in answer.values():
        for body in group if isinstance(group, list) else [group]:
            if isinstance(body, dict) and "metadata" in body:
                for condition in _conditions(body.get("status") or {}):
                    if condition.get("status") == "False":
                        place = filter(None, (body["metadata"].get("namespace"), body["metadata"]["name"]))
                        reason = f"{condition['reason']}: {condition['message']}"
                        yield f"{body['kind']} {'/'.join(place)}: {condition['type']} is False, {reason}"


def _conditions(status: object) -> Iterator[dict[str, Any]]:
    """Yield the conditions anywhere in a status: a gateway's listeners and a route's parents have their own."""
    if isinstance(status, list):
        for item in status:
            yield from _conditions(item)
    elif isinstance(status, dict):
        for key, value in status.items():
            if key == "conditions":
                yield from value
            else:
                yield from _conditions(value)
