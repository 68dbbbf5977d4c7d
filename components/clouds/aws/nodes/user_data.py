"""User data of nodes: nodeadm's NodeConfig and scripts on AL2023, TOML on Bottlerocket (aws-gpu spec 6)."""

import base64
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....contract.documents.reader import YamlError, read_documents
from ....fleet.instances import Instance
from ..words import NodeImage

_BOUNDARY = "//"
_EPHEMERAL = ["/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"]
_SOCI_FOLDER = "/var/lib/soci-snapshotter"
"""Folder of images with parallel pulls (bottlerocket-os/bottlerocket pull request 4593)."""
_MOST_BYTES = 12 * 1024
"""EC2 allows 16 KiB in total, to which EKS and Karpenter add their own parts."""
_CONTROLLED: Mapping[NodeImage, tuple[tuple[str, ...], ...]] = {
    NodeImage.AL2023: (
        ("spec", "cluster"),
        ("spec", "kubelet", "config", "maxPods"),
        ("spec", "instance", "localStorage"),
        ("spec", "featureGates", "FastImagePull"),
    ),
    NodeImage.BOTTLEROCKET: (
        *(("settings", "kubernetes", key) for key in ("max-pods", "node-labels", "node-taints", "cluster-name")),
        ("settings", "bootstrap-commands", "ephemeral-storage"),
    ),
}
"""Settings that this package controls; with other values, the pods would not fit the nodes as planned."""


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """Connection data that a node with a custom image needs in its user data, because EKS does not add it."""

    name: str
    endpoint: str
    certificate_authority: str
    service_cidr: str


@dataclass(frozen=True, slots=True)
class Start:
    """Settings in the user data of a node.

    Attributes:
        pods: Maximum number of pods.
        raid: Whether its local NVMe disks form one RAID 0 array for images, weights and logs: the folders of
            containerd, kubelet and pods are mounted there (awslabs/amazon-eks-ami, setup-local-disks).
        neuron: Whether non-root containers get access to Neuron devices, which Bottlerocket does not give by default.
        fast_image_pull: Whether images are pulled and unpacked in parallel.
        extra: User data from the settings.
    """

    pods: int
    raid: bool = False
    neuron: bool = False
    fast_image_pull: bool = False
    extra: str = ""

    @classmethod
    def of(cls, node: Instance, pods: int, *, fast_image_pull: bool = False, extra: str = "") -> "Start":
        return cls(pods, bool(node.local_nvme_gb), node.manufacturer == "AWS", fast_image_pull, extra)


def user_data(start: Start, image: NodeImage, join: ClusterAddress | None = None) -> str:
    """Return the user data of a launch template, in base64.

    Args:
        start: Settings of the node.
        image: AL2023 reads a NodeConfig, Bottlerocket TOML.
        join: The cluster, for a custom image (AL2023 only).
    """
    text = (
        toml(_bottlerocket(start)) if image == NodeImage.BOTTLEROCKET else _al2023(start, _node_config(start, join))
    )
    return base64.b64encode(text.encode()).decode()


def karpenter_user_data(start: Start, image: NodeImage) -> str:
    """Return the user data of an EC2NodeClass, to which Karpenter adds pod limit and disks; may be empty."""
    if image == NodeImage.BOTTLEROCKET:
        return toml(_merged(tomllib.loads(start.extra), _merged(_neuron(start), _soci(start))))
    gates = _config(_fast_image_pull(start)) if start.fast_image_pull else ""
    return _al2023(start, gates) if start.extra else gates


def user_data_problem(text: str, image: NodeImage) -> str:
    """Return why user data in the settings is invalid; empty if it is valid."""
    if len(text.encode()) > _MOST_BYTES:
        return (
            f"must be at most {_MOST_BYTES} bytes, found {len(text.encode())}; keep scripts in the image or a bucket"
        )
    if f"--{_BOUNDARY}" in text.splitlines():
        return f"must not have the line --{_BOUNDARY}, which separates its parts"
    if image == NodeImage.AL2023 and _is_script(text):
        return ""
    try:
        if image == NodeImage.BOTTLEROCKET:
            settings: Any = tomllib.loads(text)
        else:
            settings = next((document.value for document in read_documents(text)), None)
    except (tomllib.TOMLDecodeError, YamlError) as error:
        return f"is not what {image} reads: {error}"
    if image == NodeImage.AL2023 and (not isinstance(settings, dict) or settings.get("kind") != "NodeConfig"):
        return "must be a NodeConfig (apiVersion: node.eks.aws/v1alpha1) or a script that begins with #!"
    reserved = [".".join(path) for path in _CONTROLLED[image] if _has(settings, path)]
    return f"sets {', '.join(reserved)}, which follows from other settings; remove it" if reserved else ""


def _has(settings: Any, path: tuple[str, ...]) -> bool:  # noqa: ANN401  any YAML or TOML value
    for key in path:
        if not isinstance(settings, dict) or key not in settings:
            return False
        settings = settings[key]
    return True


def _is_script(text: str) -> bool:
    return text.startswith("#!")


def _node_config(start: Start, join: ClusterAddress | None) -> str:
    lines = []
    if join:
        lines += [
            "  cluster:",
            f"    name: {join.name}",
            f"    apiServerEndpoint: {join.endpoint}",
            f"    certificateAuthority: {join.certificate_authority}",
            f"    cidr: {join.service_cidr}",
        ]
    if start.raid:
        lines += ["  instance:", "    localStorage:", "      strategy: RAID0"]
    lines += ["  kubelet:", "    config:", f"      maxPods: {start.pods}"]
    return _config([*lines, *_fast_image_pull(start)])


def _fast_image_pull(start: Start) -> list[str]:
    return ["  featureGates:", "    FastImagePull: true"] if start.fast_image_pull else []


def _config(spec: Iterable[str]) -> str:
    lines = ["apiVersion: node.eks.aws/v1alpha1", "kind: NodeConfig", "spec:", *spec]
    return "\n".join(lines) + "\n"


def _al2023(start: Start, config: str) -> str:
    """Return a MIME multi-part message. Later NodeConfigs override earlier ones, so this package's comes last."""
    extra = start.extra
    kind = "text/x-shellscript" if _is_script(extra) else "application/node.eks.aws"
    parts = [(kind, extra)] if extra else []
    parts += [("application/node.eks.aws", config)] if config else []
    return (
        "MIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"\n\n'
        + "".join(f"--{_BOUNDARY}\nContent-Type: {kind}\n\n{text}\n" for kind, text in parts)
        + f"--{_BOUNDARY}--\n"
    )


def _bottlerocket(start: Start) -> dict[str, Any]:
    ours = _merged({"settings": {"kubernetes": {"max-pods": start.pods}}}, _merged(_neuron(start), _soci(start)))
    if start.raid:
        folders = [*_EPHEMERAL, _SOCI_FOLDER] if start.fast_image_pull else _EPHEMERAL
        storage = {
            "commands": [
                ["apiclient", "ephemeral-storage", "init"],
                ["apiclient", "ephemeral-storage", "bind", "--dirs", *folders],
            ],
            "mode": "always",
            "essential": True,
        }
        ours = _merged(ours, {"settings": {"bootstrap-commands": {"ephemeral-storage": storage}}})
    return _merged(tomllib.loads(start.extra), ours)


def _neuron(start: Start) -> dict[str, Any]:
    key = "device-ownership-from-security-context"
    return {"settings": {"kubernetes": {key: True}}} if start.neuron else {}


def _soci(start: Start) -> dict[str, Any]:
    """Return the settings that enable parallel pulls and unpacking, with Bottlerocket's default concurrency.

    Source: bottlerocket.dev, settings.container-runtime-plugins ("soci-snapshotter Parallel Pull Unpack Mode").
    """
    if not start.fast_image_pull:
        return {}
    plugin = {"soci-snapshotter": {"pull-mode": "parallel-pull-unpack"}}
    return {"settings": {"container-runtime": {"snapshotter": "soci"}, "container-runtime-plugins": plugin}}


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two trees; values of the second override those of the first."""
    both = {
        key: _merged(first[key], value)
        if isinstance(value, Mapping) and isinstance(first.get(key), Mapping)
        else value
        for key, value in second.items()
    }
    return {**first, **both}


def toml(settings: Mapping[str, Any]) -> str:
    """Write tables as TOML."""
    return "\n".join(_tables((), settings))


def _tables(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    values = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    if values:
        head = f"[{'.'.join(path)}]\n" if path else ""
        yield head + "".join(f"{_key(key)} = {_value(value)}\n" for key, value in values.items())
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _tables((*path, _key(key)), value)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:  # noqa: ANN401  any TOML value
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)} = {_value(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, str | bool | int | float):
        return json.dumps(value, ensure_ascii=False)
    return str(value.isoformat())
