"""Translate the rendered objects to Envoy's configuration with Envoy Gateway's program egctl."""

import json
import subprocess
import tempfile
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
_ERROR = "Error: "


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


def translate(egctl: Path, objects: Iterable[Object], folder: Path) -> Translation:
    """Translate the objects of the gateway, with the Services and Secrets that they reference.

    Args:
        egctl: The program.
        objects: Without those of the AI gateway.
        folder: A private folder: there are keys among the objects.

    Raises:
        TranslationError: Envoy Gateway rejected an object; the message is its own.
    """
    known = [body for body in objects if body["apiVersion"].partition("/")[0] not in _UNKNOWN_GROUPS]
    answer: dict[str, Any] = json.loads(_run(egctl, known, folder))
    problems = tuple(_problems(answer))
    proxies = list((answer.get("xds") or {}).values())
    if not proxies:
        raise TranslationError(
            "Envoy Gateway made nothing of the gateway" + "".join(f"\n{line}" for line in problems)
        )
    dumps = {dump["@type"].rpartition(".")[2]: dump for dump in proxies[0]["configs"]}
    return Translation(
        xds={
            "listeners": [
                dump["activeState"]["listener"] for dump in _all(dumps, "ListenersConfigDump", "dynamicListeners")
            ],
            "routes": [dump["routeConfig"] for dump in _all(dumps, "RoutesConfigDump", "dynamicRouteConfigs")],
            "clusters": [dump["cluster"] for dump in _all(dumps, "ClustersConfigDump", "dynamicActiveClusters")],
        },
        assignments={
            dump["endpointConfig"]["clusterName"]: dump["endpointConfig"]
            for dump in _all(dumps, "EndpointsConfigDump", "dynamicEndpointConfigs")
        },
        bootstrap=dumps["BootstrapConfigDump"]["bootstrap"],
        problems=problems,
    )


def _all(dumps: Mapping[str, Object], kind: str, field: str) -> list[Object]:
    resources: list[Object] = dumps.get(kind, {}).get(field, [])
    return resources


def _run(egctl: Path, objects: list[Object], folder: Path) -> str:
    # egctl reads a stream of YAML documents, and JSON is YAML.
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".yaml") as file:
        file.write("\n---\n".join(json.dumps(body, sort_keys=True) for body in objects))
        file.flush()
        command = [str(egctl), "x", "translate", "--from", "gateway-api", "--to", "gateway-api,xds"]
        done = subprocess.run(
            [*command, "--output", "json", "--file", file.name], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        lines = [line.removeprefix(_ERROR) for line in done.stderr.splitlines() if line.strip()]
        # After an error, egctl prints its options.
        reasons = list(dict.fromkeys(line for line in lines if not line.startswith(("Usage:", " "))))[:_LINES]
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
