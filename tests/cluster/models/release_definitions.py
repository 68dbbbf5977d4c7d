"""The definitions of all releases of a kind, served side by side on a real API server, each in a group of its own."""

import copy
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from components.contract.checking import check
from components.contract.kinds import Kind
from components.contract.load import LoadedResource
from components.contract.schema.crds import crd
from components.contract.schema.defaults import USER_METADATA, with_defaults
from tests.contract.breaking import sent
from toolkit.kube import Kube, KubeError

Object = dict[str, Any]
NAMESPACE = "default"
STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test"}


def examples(default: int) -> int:
    """Return how many documents to try per definition; ``INFERENCE_PLATFORM_EXAMPLES`` replaces the default."""
    return int(os.environ.get("INFERENCE_PLATFORM_EXAMPLES", default))


def changed_releases(kind: Kind) -> list[str]:
    """Return the releases whose definition of a kind differs from that of the release before."""
    changed, before = [], ""
    for release in kind.releases.names:
        if kind.at(release).exists:
            definition = json.dumps(crd(kind.at(release)), sort_keys=True)
            changed += [release] if definition != before else []
            before = definition
    return changed


def cases(kinds: Iterable[Kind]) -> list[tuple[str, str]]:
    """Return each kind with each release that changes its definition."""
    return [(kind.kind, release) for kind in kinds for release in changed_releases(kind)]


def group_of(kind: Kind) -> str:
    return f"r-{kind.release.replace('.', '-')}.{kind.group}"


def moved(definition: Mapping[str, Any], kind: Kind) -> Object:
    """Return a definition of a kind in a release, moved to a group of its own."""
    body: Object = copy.deepcopy(dict(definition))
    body["spec"]["group"] = group_of(kind)
    body["metadata"] = {"name": f"{kind.plural}.{group_of(kind)}"}
    return body


def install(kube: Kube, kinds: Iterable[Kind], definition_of: Callable[[Kind], Mapping[str, Any]] = crd) -> None:
    """Apply the definition of each kind in the release that it is set to."""
    for kind in kinds:
        kube.apply(moved(definition_of(kind), kind), manager="test")


def answer(kube: Kube, kind: Kind, document: Mapping[str, Any]) -> Object | str:
    """Return the object as the API server stores it in a release, or why it is refused."""
    namespace = f"namespaces/{NAMESPACE}/" if kind.namespaced else ""
    path = f"/apis/{group_of(kind)}/{kind.version}/{namespace}{kind.plural}"
    body = {**sent(dict(document)), "apiVersion": f"{group_of(kind)}/{kind.version}"}
    for _ in range(600):
        try:
            return {**kube.request("POST", path, params=STRICT, body=body), "apiVersion": kind.api_version}
        except KubeError as error:
            if error.status not in (404, 429, 503):
                return error.message
            time.sleep(0.1)  # a new kind is served a moment after it is established
    return pytest.fail(f"{path} is not served")


def is_comparable(kind: Kind, original: Mapping[str, Any], changed: Mapping[str, Any]) -> bool:
    """Whether a changed document is still sent to the path of the original."""
    metadata = changed.get("metadata")
    if any(changed.get(key) != original[key] for key in ("apiVersion", "kind")) or not isinstance(metadata, dict):
        return False
    elsewhere = kind.namespaced and metadata.get("namespace", NAMESPACE) not in (NAMESPACE, None)
    return not elsewhere and "generateName" not in metadata


def difference(kube: Kube, kind: Kind, document: Object, webhook: tuple[str, ...] = ()) -> str:
    """Return how the API server and we differ over a document in a release; empty if we agree.

    Args:
        kube: The API server.
        kind: The kind in the release.
        document: The document.
        webhook: Beginnings of the reasons that no definition has, because upstream checks them in a webhook.
    """
    resource, found = check(document, kind)
    if found and all(reason.startswith(webhook) for _, reason in found):
        return ""
    stored = answer(kube, kind, document)
    if isinstance(stored, str):
        return "" if found else f"only the server refuses: {stored}"
    if resource is None:
        return f"only we refuse: {found}"
    stored.pop("status", None)
    stored["metadata"] = {key: value for key, value in stored["metadata"].items() if key in USER_METADATA}
    expected = with_defaults(LoadedResource.from_program(resource, kind))
    if kind.namespaced:
        expected["metadata"].setdefault("namespace", NAMESPACE)
    stored, expected = as_floats(stored), as_floats(expected)
    return "" if stored == expected else f"stored differently: {stored} against {expected}"


def as_floats(value: Any) -> Any:
    """Return a value whose integers of more than 64 bits are floats: the server has no others, and rounds them."""
    if isinstance(value, dict):
        return {key: as_floats(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_floats(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) >= 2**63 else value
