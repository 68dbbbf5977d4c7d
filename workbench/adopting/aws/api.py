"""Reads a cluster from the AWS API, with calls that describe and list only (docs/adopt-aws-policy.json)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.contract.texts.printable import printable

from ...errors import WorkbenchError
from .inventory import (
    EFFECTS,
    FARGATE,
    SELF_MANAGED,
    ApiAnswers,
    FoundCluster,
    FoundGroup,
    FoundReservation,
    Inventory,
    Routes,
    Subnet,
    Taint,
    unexpressed,
    zones_of,
)

POLICY = "docs/adopt-aws-policy.json"
_DENIED = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation")
_MANAGED_TAG = "eks:nodegroup-name"
_GONE = {
    "CREATE_FAILED": "could not be created",
    "DELETING": "is being deleted",
    "DELETE_FAILED": "was being deleted, and could not be",
}
"""Node groups without nodes that models can use, by status (EKS API, Nodegroup)."""
_NOT_YET = ("CREATING", "DELETING", "FAILED", "PENDING")
"""States of a cluster without the properties that settings need (EKS API, Cluster)."""
_USABLE = ("active", "pending", "scheduled")
"""States in which a reservation has or will have capacity (EC2 API, CapacityReservation)."""


def read_api(name: str, region: str, profile: str) -> Inventory:
    """Return what exists around a cluster.

    Args:
        name: Name of the cluster.
        region: Region; empty for that of the AWS configuration.
        profile: AWS CLI profile; empty for the default credentials.

    Raises:
        WorkbenchError: the cluster cannot be read; if calls are denied, with all missing permissions.
    """
    try:
        import boto3  # type: ignore[import-untyped]
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]
    except ImportError:
        raise WorkbenchError("--aws requires boto3: pip install 'inference-platform[aws]'", 2) from None
    try:
        session = boto3.Session(profile_name=profile or None, region_name=region or None)
        if not session.region_name:
            raise WorkbenchError("--aws: no region is configured; pass --region", 2)
        account = _Account(session, ClientError)
        found = account.inventory(name)
    except (BotoCoreError, ClientError) as error:
        raise WorkbenchError(printable(f"--aws: cluster {name}: {error}")) from None
    if account.denied:
        lines = [f"--aws: cluster {name}: missing permissions, listed in {POLICY}:", *(sorted(account.denied))]
        raise WorkbenchError("\n  ".join(map(printable, lines)))
    return found


@dataclass(slots=True)
class _Account:
    """An account in a region; collects the calls that it denies, whose answers are then empty."""

    session: Any
    client_error: type[Exception]
    denied: set[str] = field(default_factory=set)
    answers: ApiAnswers = field(default_factory=ApiAnswers)
    _clients: dict[str, Any] = field(default_factory=dict)

    def call(self, service: str, operation: str, **params: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401
        """Yield the pages of an answer; none if the call is denied."""
        from botocore import xform_name  # type: ignore[import-untyped]

        client = self._clients.setdefault(service, None) or self.session.client(service)
        self._clients[service] = client
        method = xform_name(operation)
        try:
            if client.can_paginate(method):
                yield from client.get_paginator(method).paginate(**params)
            else:
                yield getattr(client, method)(**params)
        except self.client_error as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code", "")
            if code not in _DENIED:
                raise
            self.denied.add(f"{service}:{operation}")

    def items(self, service: str, operation: str, key: str, **params: Any) -> list[Any]:  # noqa: ANN401
        """Return the items of all pages."""
        return [item for page in self.call(service, operation, **params) for item in page.get(key) or ()]

    def inventory(self, name: str) -> Inventory:
        described = next(iter(self.call("eks", "DescribeCluster", name=name)), {}).get("cluster", {})
        if described.get("status") in _NOT_YET:
            raise WorkbenchError(printable(f"--aws: cluster {name}: its status is {described['status']}, not ACTIVE"))
        self.answers.cluster = described
        config = described.get("resourcesVpcConfig", {})
        vpc = config.get("vpcId", "")
        subnets = self._subnets(vpc)
        zones = {subnet.id: subnet.zone for subnet in subnets}
        cluster = FoundCluster(
            name=name,
            region=self.session.region_name,
            version=described.get("version", ""),
            vpc_id=vpc,
            subnets=tuple(config.get("subnetIds", ())),
            account=(described.get("arn", "").split(":") + [""] * 5)[4],
            ip_family=described.get("kubernetesNetworkConfig", {}).get("ipFamily", "ipv4"),
            oidc_provider=self._provider(described),
            addons=frozenset(self.items("eks", "ListAddons", "addons", clusterName=name)),
            endpoint=described.get("endpoint", ""),
            authority=described.get("certificateAuthority", {}).get("data", ""),
            security_group=config.get("clusterSecurityGroupId", ""),
        )
        profiles = self.items("eks", "ListFargateProfiles", "fargateProfileNames", clusterName=name)
        vpcs = self.items("ec2", "DescribeVpcs", "Vpcs", **_filtered("vpc-id", vpc))
        self.answers.vpc = next(iter(vpcs), {})
        return Inventory(
            source=f"cluster {name}",
            cluster=cluster,
            subnets=subnets,
            groups=(
                *self._groups(name, zones),
                *unexpressed(profiles, "Fargate profile", FARGATE),
                *unexpressed(self._self_managed(name), "Auto Scaling group", SELF_MANAGED),
            ),
            reservations=tuple(self._reservations()),
            vpc_ipv6=any(item.get("Ipv6CidrBlockAssociationSet") for item in vpcs),
            vpc_ranges=tuple(
                block["CidrBlock"]
                for item in vpcs
                for block in item.get("CidrBlockAssociationSet", ())
                if block.get("CidrBlockState", {}).get("State") == "associated"
            ),
            answers=self.answers,
        )

    def _provider(self, described: Mapping[str, Any]) -> str:
        issuer = described.get("identity", {}).get("oidc", {}).get("issuer", "").removeprefix("https://")
        providers = self.items("iam", "ListOpenIDConnectProviders", "OpenIDConnectProviderList")
        return next((item["Arn"] for item in providers if issuer and item["Arn"].endswith(f"/{issuer}")), "")

    def _subnets(self, vpc: str) -> tuple[Subnet, ...]:
        routes = Routes()
        for table in self.items("ec2", "DescribeRouteTables", "RouteTables", **_filtered("vpc-id", vpc)):
            id_ = table["RouteTableId"]
            associations = table.get("Associations", ())
            routes.table(id_, vpc=vpc, main=any(item.get("Main") for item in associations))
            for item in associations:
                if item.get("SubnetId"):
                    routes.associate(item["SubnetId"], id_)
            for route in table.get("Routes", ()):
                routes.route(id_, route.get("GatewayId", ""))
        found = self.items("ec2", "DescribeSubnets", "Subnets", **_filtered("vpc-id", vpc))
        self.answers.subnets.update({item["SubnetId"]: item for item in found})
        return tuple(
            Subnet(
                item["SubnetId"],
                item["AvailabilityZone"],
                routes.is_public(
                    item["SubnetId"], vpc, _tags(item.get("Tags", ())), assigns=item.get("MapPublicIpOnLaunch", False)
                ),
            )
            for item in sorted(found, key=lambda item: item["SubnetId"])
        )

    def _groups(self, cluster: str, zones: Mapping[str, str]) -> Iterator[FoundGroup]:
        for name in sorted(self.items("eks", "ListNodegroups", "nodegroups", clusterName=cluster)):
            for page in self.call("eks", "DescribeNodegroup", clusterName=cluster, nodegroupName=name):
                self.answers.groups[name] = page["nodegroup"]
                yield self._group(page["nodegroup"], zones)

    def _group(self, item: Mapping[str, Any], zones: Mapping[str, str]) -> FoundGroup:
        template = self._template(item.get("launchTemplate") or {})
        target = template.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
        types = item.get("instanceTypes") or [template[key] for key in ("InstanceType",) if template.get(key)]
        scaling, status = item.get("scalingConfig") or {}, item.get("status") or ""
        issues = [
            f"{issue.get('code')}: {issue.get('message')}" for issue in item.get("health", {}).get("issues") or ()
        ]
        return FoundGroup(
            name=item["nodegroupName"],
            instance_types=tuple(types),
            capacity=item.get("capacityType") or "ON_DEMAND",
            minimum=scaling.get("minSize"),
            maximum=scaling.get("maxSize"),
            labels=item.get("labels") or {},
            taints=tuple(
                Taint(taint["key"], taint.get("value") or "", EFFECTS.get(taint["effect"], ""))
                for taint in item.get("taints") or ()
            ),
            ami_type=item.get("amiType") or "",
            zones=zones_of(item.get("subnets") or (), zones),
            role=item.get("nodeRole") or "",
            reservation=target.get("CapacityReservationId", ""),
            efa=any(each.get("InterfaceType") == "efa" for each in template.get("NetworkInterfaces", ())),
            reason=_GONE.get(status, ""),
            notes=(f"its status is {status}; {'; '.join(issues)}".rstrip("; "),)
            if status in ("CREATING", "DEGRADED")
            else (),
        )

    def _template(self, reference: Mapping[str, Any]) -> Mapping[str, Any]:
        if not reference.get("id"):
            return {}
        versions = self.items(
            *("ec2", "DescribeLaunchTemplateVersions", "LaunchTemplateVersions"),
            LaunchTemplateId=reference["id"],
            Versions=[reference.get("version") or "$Default"],
        )
        data: Mapping[str, Any] = versions[0].get("LaunchTemplateData", {}) if versions else {}
        return data

    def _self_managed(self, cluster: str) -> Iterator[str]:
        """Yield the Auto Scaling groups with nodes of a cluster that EKS does not manage."""
        for item in self.items("autoscaling", "DescribeAutoScalingGroups", "AutoScalingGroups"):
            tags = _tags(item.get("Tags", ()))
            if f"kubernetes.io/cluster/{cluster}" in tags and _MANAGED_TAG not in tags:
                yield item["AutoScalingGroupName"]

    def _reservations(self) -> Iterator[FoundReservation]:
        for item in self.items("ec2", "DescribeCapacityReservations", "CapacityReservations"):
            if item.get("State") in _USABLE:
                yield FoundReservation(
                    id=item["CapacityReservationId"],
                    instance_type=item.get("InstanceType", ""),
                    zone=item.get("AvailabilityZone", ""),
                    count=item.get("TotalInstanceCount", 0),
                    starts=item.get("StartDate"),
                    ends=item.get("EndDate"),
                    block=item.get("ReservationType") == "capacity-block",
                    targeted=item.get("InstanceMatchCriteria") == "targeted",
                )


def _filtered(name: str, value: str) -> dict[str, Any]:
    return {"Filters": [{"Name": name, "Values": [value]}]}


def _tags(tags: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    return {tag["Key"]: tag.get("Value", "") for tag in tags}
