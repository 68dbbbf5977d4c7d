"""Labels that the cloud sets on nodes, and the labels and taints that settings may add (aws-gpu spec 7, 9, 10)."""

import re
from collections.abc import Iterator, Mapping

from ....contract.problems import Problem
from ....fleet.demand import INSTANCE_TYPE_LABEL, REGION_LABEL, ZONE_LABEL
from ....fleet.instances import Instance
from ....fleet.nodes.groups import NodeGroupDemand
from ....fleet.nodes.policy import RESERVED, RESERVED_CAPACITY, Capacity, NodePolicy
from ....fleet.placement import taints
from ..facts.eks import limits
from ..names import ACCELERATOR_LABEL, CAPACITY_TYPE_LABEL, KARPENTER_CAPACITY_LABEL
from ..words import Provisioner
from .settings_location import SettingsLocation

_RESERVED = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
"""Domains in which EKS rejects labels (kubernetes/cloud-provider-aws issue 242)."""
_KARPENTER_RESERVED = ("kubernetes.io", "k8s.io", "karpenter.sh")
_WELL_KNOWN_TO_KARPENTER = "karpenter.k8s.aws/"
_EKS_WORDS: Mapping[str, str] = {Capacity.SPOT: "SPOT", Capacity.CAPACITY_BLOCK: "CAPACITY_BLOCK"}
_NOT_A_WORD = re.compile(r"[^a-z0-9]+")
_MAX_LENGTH = 63
"""Maximum length of the key and the value of a label or taint in the EKS API (aws-gpu spec 7)."""
_NAME = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?", re.ASCII)
_Taints = tuple[Mapping[str, str], ...]


def capacity_type(capacity: str) -> str:
    """Return the ``capacityType`` of a managed node group."""
    return _EKS_WORDS.get(capacity, "ON_DEMAND")


def karpenter_capacity(capacity: str) -> str:
    """Return the value of Karpenter's capacity label; reservations and Capacity Blocks are both ``reserved``."""
    return RESERVED_CAPACITY if capacity in RESERVED else str(capacity)


def accelerator_word(node: Instance) -> str:
    """Return an accelerator's name as a label value: ``a10g``, ``rtx-pro-server-6000``."""
    return _NOT_A_WORD.sub("-", node.accelerator.lower()).strip("-")


def cloud_labels(
    node: Instance, capacity: str, zone: str | None, region: str, provisioner: Provisioner
) -> dict[str, str]:
    """Return the labels that EC2, EKS, the kubelet or Karpenter will set, as far as they are known in advance."""
    labels = {
        INSTANCE_TYPE_LABEL: node.name,
        "beta.kubernetes.io/instance-type": node.name,
        "kubernetes.io/arch": node.arch,
        "kubernetes.io/os": "linux",
        REGION_LABEL: region,
    }
    if zone:
        labels[ZONE_LABEL] = zone
    if provisioner != Provisioner.KARPENTER:
        return {**labels, CAPACITY_TYPE_LABEL: capacity_type(capacity)}
    prefix = "karpenter.k8s.aws/instance"
    labels |= {
        KARPENTER_CAPACITY_LABEL: karpenter_capacity(capacity),
        f"{prefix}-family": node.family,
        f"{prefix}-size": node.name.partition(".")[2],
        f"{prefix}-cpu": str(node.vcpu),
    }
    if node.accelerators:
        kind = "accelerator" if node.manufacturer in ("AWS", "Habana") else "gpu"
        labels |= {
            f"{prefix}-{kind}-name": accelerator_word(node),
            f"{prefix}-{kind}-manufacturer": node.manufacturer.lower(),
            f"{prefix}-{kind}-count": str(node.accelerators),
        }
    return labels


def own_labels(group: NodeGroupDemand, node: Instance, known: Mapping[str, str]) -> dict[str, str]:
    """Return the labels that the group or pool must set, without those that ``cloud_labels`` has."""
    automatic = tuple(known) if CAPACITY_TYPE_LABEL in known else (*known, _WELL_KNOWN_TO_KARPENTER)
    labels = {key: value for key, value in group.labels.items() if not key.startswith(automatic)}
    if node.manufacturer == "NVIDIA":
        labels[ACCELERATOR_LABEL] = accelerator_word(node)
    return dict(sorted(labels.items()))


def impossible(labels: Mapping[str, str], known: Mapping[str, str], provisioner: Provisioner) -> Iterator[str]:
    """Report selected labels that no node of a group can have, with the remedy."""
    for key, value in labels.items():
        if key in known:
            if known[key] != value:
                yield f"selects nodes with {key}: {value}, but its nodes have {known[key]}; remove the label"
        elif _under(key, _KARPENTER_RESERVED if provisioner == Provisioner.KARPENTER else _RESERVED):
            yield _refused(key, provisioner)
        elif provisioner == Provisioner.KARPENTER and _under(key, ("eks.amazonaws.com",)):
            yield f"selects {key}, which Karpenter's nodes do not have; use {KARPENTER_CAPACITY_LABEL} instead"
        elif len(key) > _MAX_LENGTH or not 0 < len(value) <= _MAX_LENGTH:
            yield (
                f"selects the label {key}: {value!r}, but EKS allows keys and values of 1 to {_MAX_LENGTH} "
                "characters; shorten it"
            )


def _refused(key: str, provisioner: Provisioner) -> str:
    who = "Karpenter" if provisioner == Provisioner.KARPENTER else "EKS"
    return f"selects the label {key}, which {who} does not allow anyone to set; use a label in your own domain"


def _under(key: str, domains: tuple[str, ...]) -> bool:
    domain = key.partition("/")[0] if "/" in key else ""
    return any(domain == d or domain.endswith(f".{d}") for d in domains)


def check_marks(policy: NodePolicy, provisioner: Provisioner, place: SettingsLocation) -> Iterator[Problem]:
    """Report labels and taints in the settings that conflict, or that EKS, Karpenter or Kubernetes would reject."""
    label_settings: list[tuple[tuple[str, ...], Mapping[str, str]]] = [((), policy.further)]
    label_settings += [(("types", name), rule.labels) for name, rule in policy.types.items()]
    for path, labels in label_settings:
        for key, value in labels.items():
            reason = _label_problem(key, value, policy, provisioner)
            if reason:
                yield place.problem((*path, "labels"), reason)
    yield from (place.problem(("taints",), reason) for reason in _taints((), policy.taints))
    for name, rule in policy.types.items():
        above = (*taints(name), *policy.taints)
        yield from (place.problem(("types", name, "taints"), reason) for reason in _taints(above, rule.taints))


def _label_problem(key: str, value: str, policy: NodePolicy, provisioner: Provisioner) -> str:
    selected = policy.labels.get(key, value)
    if selected != value:
        return f"has {key}: {value}, but every pod selects {key}: {selected}; make them the same"
    if key == ACCELERATOR_LABEL:
        return f"has {key}, which follows from the instance type; remove it"
    return label_problem(key, value, provisioner)


def label_problem(key: str, value: str, provisioner: Provisioner) -> str:
    """Return why a group or pool cannot set a label; empty if it can."""
    wrong = _syntax("label", key, value)
    karpenter = provisioner == Provisioner.KARPENTER
    reserved = _under(key, _KARPENTER_RESERVED if karpenter else _RESERVED)
    if not wrong and (reserved or (karpenter and key.startswith(_WELL_KNOWN_TO_KARPENTER))):
        return _refused(key, provisioner).replace("selects", "has", 1)
    return wrong


def _taints(above: _Taints, given: _Taints) -> Iterator[str]:
    seen = {taint["key"] for taint in above}
    for taint in given:
        key = taint["key"]
        wrong = _syntax("taint", key, taint["value"])
        if wrong:
            yield wrong
        if key in seen:
            yield f"has {key} again, which nodes have from here, from all nodes' or for their accelerators; remove it"
        seen.add(key)
    if len(above) + len(given) > limits().taints:
        yield f"EKS allows {limits().taints} taints per group, found {len(above) + len(given)}"


def _syntax(what: str, key: str, value: str) -> str:
    if not (_NAME.fullmatch(key) and _VALUE.fullmatch(value) and max(len(key), len(value)) <= _MAX_LENGTH):
        return (
            f"{what} {key!r}: {value!r} is not accepted by Kubernetes and EKS: use up to {_MAX_LENGTH} letters, "
            "digits, '-', '_' and '.', and optionally a domain before the key"
        )
    return ""
