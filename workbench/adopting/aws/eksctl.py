"""Reads a ClusterConfig of eksctl (eksctl documentation, "Config file schema", eksctl.io/v1alpha5).

A ClusterConfig states what was asked for: what eksctl adds by default is not in it, and is not assumed here.
"""

from collections.abc import Mapping
from pathlib import Path

from .documents import FileValue, read_document
from .inventory import (
    FARGATE,
    SELF_MANAGED,
    FoundCluster,
    FoundGroup,
    Inventory,
    Subnet,
    Taint,
    Unexpressed,
    unexpressed,
    zones_of,
)

_API = "eksctl.io/"
_IMAGES = {"AmazonLinux2023": "AL2023", "AmazonLinux2": "AL2", "Bottlerocket": "BOTTLEROCKET"}
"""EKS image types by family; the architecture and accelerator in their names do not matter here."""


def read_eksctl(path: Path, name: str) -> Inventory:
    """Return what a ClusterConfig declares.

    Raises:
        WorkbenchError: the file is not a ClusterConfig; with file and path.
    """
    document = read_document("--eksctl", path)
    if not document.at("apiVersion").text().startswith(_API) or document.at("kind").text() != "ClusterConfig":
        document.fail(
            f"is not a ClusterConfig of eksctl: apiVersion must start with {_API}, and kind be ClusterConfig"
        )
    metadata, vpc = document.at("metadata"), document.at("vpc")
    if name and metadata.at("name").text() != name:
        metadata.at("name").fail(f"is {metadata.at('name').text()!r}, not {name!r}; correct --cluster-name")
    subnets = (
        *_subnets(vpc.at("subnets", "private"), public=False),
        *_subnets(vpc.at("subnets", "public"), public=True),
    )
    ids = {subnet.id: subnet.zone for _, subnet in subnets}
    zones = {**ids, **{key: subnet.zone for key, subnet in subnets}}
    addons = frozenset(item.at("name").text() for item in document.at("addons").items())
    profiles = [item.at("name").text() for item in document.at("fargateProfiles").items()]
    own = [item.at("name").text() for item in document.at("nodeGroups").items()]
    return Inventory(
        source=document.file,
        cluster=FoundCluster(
            name=metadata.at("name").text(),
            region=metadata.at("region").text(),
            version=metadata.at("version").scalar(),
            vpc_id=vpc.at("id").text(),
            ip_family=document.at("kubernetesNetworkConfig", "ipFamily").text().lower() or "ipv4",
            addons=addons if "addons" in document.map() else None,
        ),
        subnets=tuple(sorted(subnet for _, subnet in subnets)),
        groups=(
            *(_group(item, zones) for item in document.at("managedNodeGroups").items()),
            *unexpressed(own, "node group", SELF_MANAGED),
            *unexpressed(profiles, "Fargate profile", FARGATE),
        ),
        findings=tuple(_findings(document)),
    )


def _findings(document: FileValue) -> list[Unexpressed]:
    found = []
    if "karpenter" in document.map():
        reason = "its NodePools are in the cluster, not in this file; describe those with accelerators by hand"
        found.append(Unexpressed("karpenter", f"{reason} (gpuNodes.provisioner and gpuNodes.types)"))
    if document.at("iam", "withOIDC").truth():
        reason = (
            "the ARN of the provider is not in the file; set cluster.oidcProviderArn without a Pod Identity agent"
        )
        found.append(Unexpressed("iam.withOIDC", reason))
    if document.at("autoModeConfig", "enabled").truth():
        found.append(
            Unexpressed("autoModeConfig", "EKS Auto Mode launches nodes by its own NodePools, which have no setting")
        )
    return found


def _subnets(value: FileValue, *, public: bool) -> list[tuple[str, Subnet]]:
    """Return subnets with their keys: zones, or names with the zone in ``az``."""
    found = []
    for key in value.map():
        item = value.at(key)
        id_, zone = item.at("id").text(), item.at("az").text() or key
        if id_:
            found.append((key, Subnet(id_, zone, public)))
    return found


def _group(item: FileValue, zones: Mapping[str, str]) -> FoundGroup:
    types = item.at("instanceTypes").texts() or tuple(filter(None, [item.at("instanceType").text()]))
    family = item.at("amiFamily").text()
    target = item.at("capacityReservation", "capacityReservationTarget")
    named = item.at("subnets").texts()
    unknown = [name for name in named if name not in zones]
    template = item.at("launchTemplate", "id").text()
    notes = [f"subnets {', '.join(unknown)} are not in vpc.subnets"] if unknown else []
    notes += [f"launch template {template} is not in the file"] if template else []
    missing = [key for key in ("minSize", "maxSize") if item.at(key).raw is None]
    notes += [f"{' and '.join(missing)}: absent, so that the size is unknown"] if missing else []
    return FoundGroup(
        name=item.at("name").text(),
        instance_types=types,
        capacity=_capacity(item),
        minimum=item.at("minSize").number(),
        maximum=item.at("maxSize").number(),
        labels=item.at("labels").texts_by_key(),
        taints=_taints(item.at("taints")),
        ami_type="WINDOWS" if family.startswith("Windows") else _IMAGES.get(family, "CUSTOM" if family else ""),
        zones=tuple(sorted(item.at("availabilityZones").texts())) or zones_of(named, zones),
        role=item.at("iam", "instanceRoleARN").text(),
        reservation=target.at("capacityReservationID").text(),
        efa=item.at("efaEnabled").truth(),
        reason="" if types else "has no instanceType, and eksctl's default depends on its release",
        notes=tuple(notes),
    )


def _capacity(item: FileValue) -> str:
    if item.at("instanceMarketOptions", "marketType").text() == "capacity-block":
        return "CAPACITY_BLOCK"
    return "SPOT" if item.at("spot").truth() else "ON_DEMAND"


def _taints(value: FileValue) -> tuple[Taint, ...]:
    """Return taints, which may be a list, or a map of ``value:effect`` by key."""
    if isinstance(value.raw, dict):
        parts = {key: text.rpartition(":") for key, text in value.texts_by_key().items()}
        return tuple(Taint(key, text, effect) for key, (text, _, effect) in parts.items())
    return tuple(
        Taint(item.at("key").text(), item.at("value").scalar(), item.at("effect").text()) for item in value.items()
    )
