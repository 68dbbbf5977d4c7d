"""The namespace and CRDs that the charts of a gateway would install, without validation and controllers."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

NAMESPACE = "envoy-gateway-system"
"""Namespace of Envoy Gateway's chart, and of the objects and keys of a front door."""
_KINDS = Path(__file__).with_name("gateway.yaml")
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_GATEWAY_API = "gateway.networking.k8s.io"
_APPROVED = {"api-approved.kubernetes.io": "unapproved, a stand-in of the workbench"}
"""The API server requires this annotation for groups that end with ``.k8s.io`` (KEP-1111)."""

Json = dict[str, Any]


def gateway_objects() -> Iterator[Json]:
    """Yield the namespace and the definitions."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    for group, kinds in yaml.safe_load(_KINDS.read_text()).items():
        yield from (_definition(group, kind, facts) for kind, facts in kinds.items())


def _definition(group: str, kind: str, facts: Mapping[str, Any]) -> Json:
    names = {"plural": facts["plural"], "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    if "short" in facts:
        names["shortNames"] = [facts["short"]]
    columns = [{"name": name, "type": "string", "jsonPath": path} for name, path in facts.get("columns", {}).items()]
    version = {
        "name": facts["version"],
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": _ANYTHING, "status": _ANYTHING}}},
        "subresources": {"status": {}},
        "additionalPrinterColumns": [*columns, _AGE],
    }
    scope = "Cluster" if facts.get("cluster") else "Namespaced"
    metadata: Json = {"name": f"{facts['plural']}.{group}"}
    if group == _GATEWAY_API:
        metadata["annotations"] = _APPROVED
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"group": group, "names": names, "scope": scope, "versions": [version]},
    }
