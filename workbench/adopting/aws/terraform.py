"""Reads the state of Terraform or OpenTofu, as ``terraform show -json`` writes it.

The format is documented in Terraform's "JSON Output Format" (values representation), the attributes in the resource
pages of the provider hashicorp/aws.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .documents import FileValue, read_document
from .inventory import (
    EFFECTS,
    FARGATE,
    SELF_MANAGED,
    FoundCluster,
    FoundGroup,
    FoundReservation,
    Inventory,
    Routes,
    Subnet,
    Taint,
    Unexpressed,
    unexpressed,
    zones_of,
)
from .selection import one_cluster

_NEXT = "run `terraform show -json` in the folder of the state, without a plan file, and pass its output"


def read_terraform(path: Path, name: str) -> Inventory:
    """Return what a state has around a cluster.

    Args:
        path: The file.
        name: Name of the cluster; empty for the only one.

    Raises:
        WorkbenchError: the file is not a state, or has no such cluster; with file and path.
    """
    document = read_document("--terraform", path)
    if "values" not in document.map():
        plan = "is a plan, whose values are not final" if "planned_values" in document.map() else "has no values"
        document.fail(f"{plan}; {_NEXT}")
    findings: list[Unexpressed] = []
    state = _TerraformState(_resources(document.at("values", "root_module"), findings, 0))
    clusters = {cluster.at("name").text(): cluster for cluster in state.of("aws_eks_cluster")}
    chosen = clusters[one_cluster(document, clusters, name)]
    return state.inventory(chosen, tuple(findings))


_DEEPEST = 100


def _resources(module: FileValue, findings: list[Unexpressed], depth: int) -> Iterator[tuple[str, FileValue]]:
    """Yield type and values of the resources of a module and those below it, without sensitive values."""
    if depth > _DEEPEST:
        module.fail(f"has more than {_DEEPEST} modules in each other")
    for resource in module.at("resources").items():
        kind, values = resource.at("type").text(), resource.at("values")
        if kind.startswith("aws_"):
            clear, hidden = _in_clear(values.raw, resource.at("sensitive_values").raw)
            if hidden and kind in _READ:
                reason = f"{', '.join(hidden)}: marked as sensitive, and not read"
                findings.append(Unexpressed(resource.at("address").text(), reason))
            yield kind, FileValue(values.file, values.path, clear)
    for child in module.at("child_modules").items():
        yield from _resources(child, findings, depth + 1)


_READ = frozenset({"aws_eks_cluster", "aws_eks_node_group", "aws_subnet", "aws_launch_template"})


def _in_clear(values: Any, marks: Any) -> tuple[Any, list[str]]:  # noqa: ANN401  of the file
    """Return the values of a resource without those that are marked as sensitive, and the keys of these."""
    if not isinstance(values, dict) or not isinstance(marks, dict):
        return values, []
    hidden = sorted(key for key, mark in marks.items() if mark is True and values.get(key) is not None)
    return {key: value for key, value in values.items() if key not in hidden}, hidden


class _TerraformState:
    def __init__(self, resources: Iterable[tuple[str, FileValue]]) -> None:
        self._by_type: dict[str, list[FileValue]] = {}
        for kind, values in resources:
            self._by_type.setdefault(kind, []).append(values)

    def of(self, kind: str) -> list[FileValue]:
        return self._by_type.get(kind, [])

    def inventory(self, cluster: FileValue, findings: tuple[Unexpressed, ...]) -> Inventory:
        name, arn = cluster.at("name").text(), cluster.at("arn").text().split(":")
        _, _, _, region, account, *_ = [*arn, "", "", "", "", ""]
        config = _first(cluster.at("vpc_config"))
        vpc = config.at("vpc_id").text()
        subnets = self._subnets(vpc)
        addons = {item.at("addon_name").text() for item in self._in(name, "aws_eks_addon")}
        network = _first(cluster.at("kubernetes_network_config"))
        read = FoundCluster(
            name=name,
            region=region,
            version=cluster.at("version").text(),
            vpc_id=vpc,
            subnets=config.at("subnet_ids").texts(),
            account=account,
            ip_family=network.at("ip_family").text() or "ipv4",
            oidc_provider=self._provider(cluster),
            addons=frozenset(addons) if addons else None,
            endpoint=cluster.at("endpoint").text(),
            authority=_first(cluster.at("certificate_authority")).at("data").text(),
            security_group=config.at("cluster_security_group_id").text(),
        )
        zones = {subnet.id: subnet.zone for subnet in subnets}
        others = [*unexpressed(self._profiles(name), "Fargate profile", FARGATE)]
        others += unexpressed(self._self_managed(name), "Auto Scaling group", SELF_MANAGED)
        return Inventory(
            source=cluster.file,
            cluster=read,
            subnets=subnets,
            groups=(*(self._group(item, zones) for item in self._in(name, "aws_eks_node_group")), *others),
            reservations=tuple(map(_reservation, self.of("aws_ec2_capacity_reservation"))),
            vpc_ipv6=any(
                item.at("ipv6_cidr_block").text() for item in self.of("aws_vpc") if item.at("id").text() == vpc
            ),
            vpc_ranges=tuple(self._ranges(vpc)),
            findings=findings,
        )

    def _ranges(self, vpc: str) -> Iterator[str]:
        yield from (item.at("cidr_block").text() for item in self.of("aws_vpc") if item.at("id").text() == vpc)
        for item in self.of("aws_vpc_ipv4_cidr_block_association"):
            if item.at("vpc_id").text() == vpc:
                yield item.at("cidr_block").text()

    def _in(self, cluster: str, kind: str) -> list[FileValue]:
        return [item for item in self.of(kind) if item.at("cluster_name").text() == cluster]

    def _provider(self, cluster: FileValue) -> str:
        """Return the ARN of the IAM OIDC provider with the issuer of a cluster."""
        issuer = _first(_first(cluster.at("identity")).at("oidc")).at("issuer").text().removeprefix("https://")
        providers = self.of("aws_iam_openid_connect_provider")
        found = (item.at("arn").text() for item in providers if item.at("url").text().endswith(issuer))
        return next(found, "") if issuer else ""

    def _subnets(self, vpc: str) -> tuple[Subnet, ...]:
        routes = Routes()
        for table in self.of("aws_route_table"):
            routes.table(table.at("id").text())
            for route in table.at("route").items():
                routes.route(table.at("id").text(), route.at("gateway_id").text())
        for route in self.of("aws_route"):
            routes.route(route.at("route_table_id").text(), route.at("gateway_id").text())
        for item in self.of("aws_route_table_association"):
            routes.associate(item.at("subnet_id").text(), item.at("route_table_id").text())
        found = {item.at("id").text(): item for item in self.of("aws_subnet") if item.at("vpc_id").text() == vpc}
        return tuple(
            Subnet(
                id_,
                item.at("availability_zone").text(),
                routes.is_public(
                    id_,
                    vpc,
                    item.at("tags").texts_by_key(),
                    assigns=item.at("map_public_ip_on_launch").truth(),
                ),
            )
            for id_, item in sorted(found.items())
        )

    def _group(self, item: FileValue, zones: Mapping[str, str]) -> FoundGroup:
        scaling, reference = _first(item.at("scaling_config")), _first(item.at("launch_template"))
        template = self._template(reference)
        types = item.at("instance_types").texts() or tuple(filter(None, [template.at("instance_type").text()]))
        target = _first(_first(template.at("capacity_reservation_specification")).at("capacity_reservation_target"))
        interfaces = template.at("network_interfaces").items()
        return FoundGroup(
            name=item.at("node_group_name").text(),
            instance_types=types,
            capacity=item.at("capacity_type").text() or "ON_DEMAND",
            minimum=scaling.at("min_size").number(),
            maximum=scaling.at("max_size").number(),
            labels=item.at("labels").texts_by_key(),
            taints=tuple(
                Taint(taint.at("key").text(), taint.at("value").text(), EFFECTS.get(taint.at("effect").text(), ""))
                for taint in item.at("taint").items()
            ),
            ami_type=item.at("ami_type").text(),
            zones=zones_of(item.at("subnet_ids").texts(), zones),
            role=item.at("node_role_arn").text(),
            reservation=target.at("capacity_reservation_id").text(),
            efa=any(interface.at("interface_type").text() == "efa" for interface in interfaces),
            notes=("its launch template is not in the state",) if reference.map() and not template.map() else (),
        )

    def _template(self, reference: FileValue) -> FileValue:
        id_ = reference.at("id").text()
        found = (item for item in self.of("aws_launch_template") if id_ and item.at("id").text() == id_)
        return next(found, FileValue(reference.file, reference.path, None))

    def _profiles(self, cluster: str) -> list[str]:
        return [item.at("fargate_profile_name").text() for item in self._in(cluster, "aws_eks_fargate_profile")]

    def _self_managed(self, cluster: str) -> Iterator[str]:
        """Yield the Auto Scaling groups with nodes of a cluster; those of managed groups are not in a state."""
        for item in self.of("aws_autoscaling_group"):
            tags = {tag.at("key").text() for tag in item.at("tag").items()}
            if f"kubernetes.io/cluster/{cluster}" in tags:
                yield item.at("name").text()


def _first(value: FileValue) -> FileValue:
    """Return the only item of a block, which Terraform writes as a list."""
    return next(value.items(), FileValue(value.file, f"{value.path}[0]", None))


def _reservation(item: FileValue) -> FoundReservation:
    return FoundReservation(
        id=item.at("id").text(),
        instance_type=item.at("instance_type").text(),
        zone=item.at("availability_zone").text(),
        count=item.at("instance_count").number() or 0,
        ends=item.at("end_date").moment(),
        targeted=item.at("instance_match_criteria").text() == "targeted",
    )
