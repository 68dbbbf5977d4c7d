"""Amazon EKS: versions and their support, images by instance family, add-ons, limits and quotas."""

import datetime
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ....contract.tables import load_table
from ....fleet.instances import Instance

EKS_DEFAULT = "default"
"""Add-on version that EKS chooses, once."""
MOST_RECENT = "most-recent"
"""The newest add-on version for the Kubernetes version, looked up at each preview and update."""
_KIND = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class EksVersion:
    """One Kubernetes version of EKS.

    Attributes:
        standard_until: Day on which EKS upgrades the control plane, or from which it costs more if the cluster's
            upgrade policy is extended; None if no source states it.
        extended_until: Day on which EKS upgrades the control plane regardless of the policy; None likewise.
        karpenter: Lowest Karpenter version that works with it; empty if no source states it.
        images: Releases of node images, by image, that settings pin because ``releases.yaml`` has none.
        addons: Versions of EKS add-ons, by name, likewise.
    """

    version: str
    standard_until: datetime.date | None
    extended_until: datetime.date | None
    karpenter: str = ""
    images: Mapping[str, str] = field(default_factory=dict)
    addons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Addon:
    """One EKS add-on.

    Attributes:
        before_nodes: Whether nodes need it to become ready.
        always: Whether every cluster that this package creates has it.
        service_account: Service account that gets a role; empty for none.
        namespace: Namespace of that service account.
        policies: Managed policies of that role, after ``arn:aws:iam::aws:policy/``.
        configuration: The add-on's own configuration values.
    """

    name: str
    before_nodes: bool = False
    always: bool = False
    service_account: str = ""
    namespace: str = "kube-system"
    policies: tuple[str, ...] = ()
    configuration: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Quota:
    """A service quota, in vCPUs per region: its code, and its name in the console."""

    code: str
    name: str

    def __str__(self) -> str:
        return f"{self.code} ({self.name})"


@dataclass(frozen=True, slots=True)
class Quotas:
    """Quotas that limit the vCPUs of an instance family; None if the sources disagree."""

    on_demand: Quota
    spot: Quota | None


@dataclass(frozen=True, slots=True)
class Limits:
    """Maximums that EKS enforces; the first two are quotas that AWS raises on request."""

    node_groups: int
    nodes_per_group: int
    unavailable_nodes: int
    instance_types_per_group: int
    taints: int
    name: int
    cluster_name: int


@functools.cache
def _facts() -> Mapping[str, Any]:
    loaded: dict[str, Any] = load_table(__package__, "eks.yaml")
    return MappingProxyType(loaded)


@functools.cache
def versions() -> Mapping[str, EksVersion]:
    """Return every known version, oldest first."""
    known: dict[str, EksVersion] = {}
    for name, row in _facts()["versions"].items():
        days = {key: day and datetime.date.fromisoformat(day) for key, day in row.items() if key.endswith("_until")}
        known[name] = EksVersion(name, **{**row, **days})
    return MappingProxyType(known)


@functools.cache
def addons() -> Mapping[str, Addon]:
    """Return every known add-on by name."""
    rows = _facts()["addons"].items()
    return MappingProxyType(
        {name: Addon(name, **{**row, "policies": tuple(row.get("policies", ()))}) for name, row in rows}
    )


@functools.cache
def limits() -> Limits:
    """Return the limits of one cluster."""
    return Limits(**_facts()["limits"])


def ami_type(node: Instance, image: str) -> str | None:
    """Return the ``amiType`` of a managed node group for an accelerated type; None if AWS has no image for it."""
    return next(
        (
            row["types"].get(node.arch)
            for row in _facts()["amis"]
            if row["image"] == image and node.family in row["families"]
        ),
        None,
    )


def system_ami_type(node: Instance, image: str) -> str:
    """Return the ``amiType`` for a type without accelerators."""
    return str(_facts()["system_amis"][image][node.arch])


def no_image(node: Instance) -> str:
    """Return why AWS has no image for an accelerated type."""
    driver = _facts()["driver"]
    needed = driver["needs"].get(node.family)
    if needed:
        return f"it requires NVIDIA driver {needed}, but the EKS images have {driver['nvidia']}"
    return f"the EKS images have no driver for {node.manufacturer} {node.accelerator}"


def takes_capacity_block(instance_type: str) -> bool:
    """Whether a Capacity Block can be bought for a type."""
    return instance_type in _facts()["capacity_blocks"]


def is_fractional(instance_type: str) -> bool:
    """Whether a type has a fraction of a GPU; Karpenter does not schedule pods on such types."""
    return instance_type in _facts()["fractional"]


def first_efa_card(instance_type: str) -> int:
    """Return the index of the first network card that supports EFA."""
    return int(instance_type in _facts()["efa_from_card_one"])


def quotas_of(node: Instance) -> Quotas | None:
    """Return the quotas that limit a type's vCPUs; None if no source states them."""
    kind = _KIND.match(node.family)
    return _quotas(kind[0]) if kind else None


def standard_quotas() -> Quotas:
    """Return the quotas of general-purpose types."""
    quotas = _quotas("m")
    if quotas is None:
        raise LookupError("the table of quotas has no row for the family m")
    return quotas


def _quotas(kind: str) -> Quotas | None:
    row = next((row for row in _facts()["quotas"] if kind in row["families"]), None)
    return Quotas(Quota(**row["on_demand"]), Quota(**row["spot"]) if row["spot"] else None) if row else None
