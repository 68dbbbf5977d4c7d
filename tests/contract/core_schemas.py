"""Extracts the core definitions that our kinds embed; run as a script it writes the data file.

The ``kubernetes-validate`` package carries the OpenAPI definitions of Kubernetes as JSON schema, written for
its own validator: optional values may be null, integers or strings are a ``oneOf``. Here they become what a
structural schema of the API server says: nothing unknown, nothing null, ranges of integer widths, the real
grammar of quantities.
"""

import functools
import json
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "components/contract/schema/data/core-1.36.json"
VERSION = "1.36.0"
EARLIER = ("1.32", "1.33", "1.34", "1.35")
"""Earlier minor versions whose types a release of a family embeds, or that are between two of these."""
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,9})?$"
ROOTS = (
    "io.k8s.api.core.v1.PodTemplateSpec",
    "io.k8s.api.core.v1.PersistentVolumeClaim",
    "io.k8s.api.autoscaling.v2.MetricSpec",
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior",
    "io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Condition",
)
KEPT = (
    "type",
    "format",
    "$ref",
    "required",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
)
RANGES = {"int32": 2**31, "int64": 2**63}
# The ``+default`` markers of k8s.io/api: what a CustomResourceDefinition generated from these types defaults.
CORE = "io.k8s.api.core.v1."
DEFAULTS: dict[tuple[str, str], Any] = {
    (CORE + "ContainerPort", "protocol"): "TCP",
    (CORE + "GRPCAction", "service"): "",
    (CORE + "LocalObjectReference", "name"): "",
    (CORE + "ConfigMapEnvSource", "name"): "",
    (CORE + "ConfigMapKeySelector", "name"): "",
    (CORE + "ConfigMapProjection", "name"): "",
    (CORE + "ConfigMapVolumeSource", "name"): "",
    (CORE + "SecretEnvSource", "name"): "",
    (CORE + "SecretKeySelector", "name"): "",
    (CORE + "SecretProjection", "name"): "",
    (CORE + "FileKeySelector", "optional"): False,
    (CORE + "AzureDiskVolumeSource", "fsType"): "ext4",
    (CORE + "AzureDiskVolumeSource", "readOnly"): False,
    (CORE + "ISCSIVolumeSource", "iscsiInterface"): "default",
    (CORE + "RBDVolumeSource", "keyring"): "/etc/ceph/keyring",
    (CORE + "RBDVolumeSource", "pool"): "rbd",
    (CORE + "RBDVolumeSource", "user"): "admin",
    (CORE + "ScaleIOVolumeSource", "fsType"): "xfs",
    (CORE + "ScaleIOVolumeSource", "storageMode"): "ThinProvisioned",
}
# What a CustomResourceDefinition says of metadata within another object: controller-gen's generateEmbeddedObjectMeta.
# The rest would be dropped, or refused where the writer asks for strictness.
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
LEFT_OUT = {
    (_META + "ObjectMeta", field)
    for field in (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generateName",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    )
}
# The ``+kubebuilder:validation`` markers of k8s.io/apimachinery, which the OpenAPI definitions do not have.
MARKERS: dict[tuple[str, str], dict[str, Any]] = {
    (_META + "Condition", "type"): {
        "maxLength": 316,
        "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
        r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    },
    (_META + "Condition", "status"): {"enum": ["True", "False", "Unknown"]},
    (_META + "Condition", "observedGeneration"): {"minimum": 0},
    (_META + "Condition", "reason"): {
        "minLength": 1,
        "maxLength": 1024,
        "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    },
    (_META + "Condition", "message"): {"maxLength": 32768},
}
# References that embed LocalObjectReference (``+structType=atomic``), which the OpenAPI definitions flatten.
ATOMIC = {
    CORE + name
    for name in (
        "ConfigMapEnvSource",
        "ConfigMapProjection",
        "ConfigMapVolumeSource",
        "SecretEnvSource",
        "SecretProjection",
    )
}


@functools.cache
def packaged(version: str = VERSION) -> dict[str, Any]:
    """Return the definitions of the installed package."""
    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{version}-local"
    found: dict[str, Any] = json.loads((folder / "_definitions.json").read_text())["$defs"]
    return found


def structural(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in the form the API server uses."""
    out: dict[str, Any] = {key: schema[key] for key in KEPT if key in schema}
    if isinstance(out.get("type"), list):
        (out["type"],) = (t for t in out["type"] if t != "null")
    if out.get("format") in RANGES:
        bound = RANGES[out["format"]]
        out |= {"minimum": -bound, "maximum": bound - 1}
    if "properties" in schema:
        out["properties"] = {name: structural(inner) for name, inner in schema["properties"].items()}
        out["additionalProperties"] = False
    elif out.get("type") == "object":
        out["additionalProperties"] = (
            structural(schema["additionalProperties"]) if "additionalProperties" in schema else False
        )
    if "items" in schema:
        out["items"] = structural(schema["items"])
    return out


def definition(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return one named definition."""
    if name in (QUANTITY, INT_OR_STRING):
        integer = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
        union = {"anyOf": [integer, {"type": "string"}], "x-kubernetes-int-or-string": True}
        return union | ({"pattern": PATTERN} if name == QUANTITY else {})
    out = structural(schema)
    # Fields are marked with the minor version that added them, except those of types that are as new.
    earlier = [(minor, packaged(f"{minor}.0")[name]) for minor in EARLIER if name in packaged(f"{minor}.0")]
    for field in out.get("properties", ()):
        has_field = [minor for minor, known in earlier if field in known.get("properties", ())]
        since = has_field[0] if has_field else VERSION.rpartition(".")[0]
        if earlier and since != earlier[0][0]:
            out["properties"][field]["x-since"] = since
    for owner, field in LEFT_OUT:
        if owner == name:
            del out["properties"][field]
    for (owner, field), value in DEFAULTS.items():
        if owner == name:
            out["properties"][field]["default"] = value
    for (owner, field), markers in MARKERS.items():
        if owner == name:
            out["properties"][field] |= markers
    return out | ({"x-kubernetes-map-type": "atomic"} if name in ATOMIC else {})


def extract() -> dict[str, Any]:
    """Return the content of the data file."""
    package = packaged()
    found: dict[str, Any] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = definition(name, package[name])
            text = json.dumps(found[name])
            waiting += [part.split('"')[0] for part in text.split("#/$defs/")[1:]]
    origin = f"kubernetes-validate {VERSION}, v{VERSION}-local/_definitions.json"
    source = f"{origin} (OpenAPI of Kubernetes {VERSION}, Apache-2.0)"
    return {"source": source, "$defs": dict(sorted(found.items()))}


def text() -> str:
    """Return the data file as written: one definition to a line, so that changes can be read."""
    data = extract()
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in data["$defs"].items())
    return f'{{"source": {json.dumps(data["source"])},\n "$defs": {{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
