"""Edits of the shipped stacks, as their users make them."""

from collections.abc import Callable
from typing import Any

import yaml

Files = dict[str, Any]
"""Settings by key, and the manifests of ``models``: file name to documents."""
Edit = Callable[[Files], None]


def _cluster(**settings: Any) -> Edit:
    return lambda files: files["settings"].setdefault("cluster", {}).update(settings)


def _network(**settings: Any) -> Edit:
    return lambda files: files["settings"].setdefault("network", {}).update(settings)


def _nodes(**settings: Any) -> Edit:
    return lambda files: files["settings"].setdefault("gpuNodes", {}).update(settings)


def _settings(**settings: Any) -> Edit:
    return lambda files: files["settings"].update(settings)


def _type(name: str, **rule: Any) -> Edit:
    def edit(files: Files) -> None:
        types = files["settings"].setdefault("gpuNodes", {}).setdefault("types", {})
        types[name] = {**types.get(name, {}), **rule}

    return edit


def _append_zone(files: Files) -> None:
    zones = files["settings"]["network"]["zones"]
    zones.append(f"us-east-1{'abcdef'[len(zones)]}")


def _remove_zone(files: Files) -> None:
    files["settings"]["network"]["zones"].pop()


def _tag(files: Files) -> None:
    files["settings"]["tags"] = {**files["settings"].get("tags", {}), "team": "serving"}


def _endpoints(files: Files) -> None:
    known = files["settings"]["network"].get("interfaceEndpoints", [])
    files["settings"]["network"]["interfaceEndpoints"] = [*known, "logs"]


def _each(change: Callable[[dict[str, Any]], None], name: str = "qwen-chat.yaml") -> Edit:
    def edit(files: Files) -> None:
        for document in files["models"][name]:
            change(document)

    return edit


def _rename(document: dict[str, Any]) -> None:
    document["metadata"]["name"] += "-two"
    claim = document["spec"].get("modelClaim")
    if claim:
        claim["modelName"] += "-two"


def _copy(files: Files) -> None:
    text = yaml.safe_dump_all(files["models"]["qwen-chat.yaml"]).replace("qwen-chat", "qwen-copy")
    name = next(each["metadata"]["name"] for each in files["models"]["qwen-chat.yaml"])
    files["models"]["qwen-copy.yaml"] = list(yaml.safe_load_all(text.replace(f"{name}", f"{name}-copy")))
    paths = files["settings"]["models"]
    if "stacks/models" not in paths:
        paths.append("stacks/models/qwen-copy.yaml")


def _remove(files: Files) -> None:
    del files["models"]["qwen-chat.yaml"]
    files["settings"]["models"] = [each for each in files["settings"]["models"] if "qwen-chat" not in each]


def _other_type(document: dict[str, Any]) -> None:
    for flavor in document["spec"].get("inferenceConfig", {}).get("flavors", []):
        flavor["params"]["INSTANCE-TYPE"] = "g6e.2xlarge"


def _namespace(document: dict[str, Any]) -> None:
    if document["kind"] == "Playground":
        document["metadata"]["namespace"] = "elsewhere"


def _no_prerequisites(files: Files) -> None:
    del files["settings"]["prerequisites"]
    files["settings"].pop("frontDoor", None)
    files["settings"]["cluster"] = {**files["settings"]["cluster"]}


EDITS: dict[str, Edit] = {
    "append a zone": _append_zone,
    "remove a zone": _remove_zone,
    "version of the cluster": _cluster(version="1.34"),
    "log types": _cluster(logTypes=["audit"]),
    "system nodes": _cluster(systemNodes=4),
    "types of system nodes": _cluster(systemInstanceTypes=["m7i.xlarge"]),
    "service range": _cluster(serviceCidr="10.100.0.0/16"),
    "release of the image": _nodes(amiRelease="1.35.5-20260601"),
    "disks": _nodes(diskGib=333),
    "image": _nodes(image="bottlerocket"),
    "capacity": _type("g6.2xlarge", capacity="on-demand"),
    "spot types": _type("g5.2xlarge", capacity="spot", spotTypes=["g5.4xlarge"]),
    "reservation": _type(
        "p5.48xlarge",
        capacity="odcr",
        reservation={"id": "cr-0123456789abcdef0", "zone": "us-east-1b", "count": 3},
        efa=True,
    ),
    "a tag": _tag,
    "name of the cluster": _settings(clusterName="renamed"),
    "NAT gateways": _network(natGateways="per-zone"),
    "one NAT gateway": _network(natGateways="one"),
    "endpoints": _endpoints,
    "add a model": _copy,
    "remove a model": _remove,
    "rename a model": _each(_rename),
    "type of a model": _each(_other_type),
    "namespace of a model": _each(_namespace),
    "namespace": _settings(namespace="serving"),
    "hardening": _settings(hardening={"podSecurity": "baseline", "disruptionBudgets": True}),
    "expose": _settings(frontDoor={"expose": "load-balancer", "internal": True}),
    "no prerequisites": _no_prerequisites,
    "region": _settings(region="us-west-2"),
}
