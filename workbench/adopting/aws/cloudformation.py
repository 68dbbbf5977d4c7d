"""Reads a CloudFormation template, together with the names and parameters of its stack.

Templates are documented in the CloudFormation template reference (AWS::EKS::Cluster, AWS::EKS::Nodegroup,
AWS::EC2::Subnet, ...), the other files are the output of ``aws cloudformation describe-stack-resources`` and
``describe-stacks``. Functions are resolved where these tell the result, and reported otherwise: defaults of
parameters are not used, because a stack may override them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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

_READ: Mapping[str, tuple[str, ...]] = {
    "AWS::EKS::Cluster": ("Name", "Version", "ResourcesVpcConfig", "KubernetesNetworkConfig"),
    "AWS::EKS::Nodegroup": (
        *("ClusterName", "NodegroupName", "AmiType", "CapacityType", "InstanceTypes", "Labels", "Taints"),
        *("ScalingConfig", "Subnets", "NodeRole", "LaunchTemplate"),
    ),
    "AWS::EKS::FargateProfile": ("ClusterName", "FargateProfileName"),
    "AWS::EKS::Addon": ("ClusterName", "AddonName"),
    "AWS::EC2::Subnet": ("VpcId", "AvailabilityZone", "MapPublicIpOnLaunch", "Tags"),
    "AWS::EC2::RouteTable": (),
    "AWS::EC2::Route": ("RouteTableId", "GatewayId"),
    "AWS::EC2::SubnetRouteTableAssociation": ("SubnetId", "RouteTableId"),
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateData",),
    "AWS::EC2::CapacityReservation": (
        *("InstanceType", "AvailabilityZone", "InstanceCount", "InstanceMatchCriteria", "EndDate"),
    ),
    "AWS::AutoScaling::AutoScalingGroup": ("Tags",),
}
"""The types of resources that are read, with their properties."""
_NEXT = (
    "pass the template, with the outputs of `aws cloudformation describe-stack-resources` and `describe-stacks` of "
    "its stack as further --cloudformation files"
)
_DEEPEST = 60
_VARIABLE = re.compile(r"\$\{(!?)([^}]*)\}")


def read_cloudformation(paths: Sequence[Path], name: str) -> Inventory:
    """Return what a stack has around a cluster.

    Raises:
        WorkbenchError: a file is of another form, or there is no such cluster; with file and path.
    """
    stack = _Stack()
    for path in paths:
        stack.add(read_document("--cloudformation", path))
    if stack.template is None:
        FileValue(str(paths[-1]), "", None).fail(f"has no template; {_NEXT}")
    clusters = {stack.name_of(resource, "Name"): resource for resource in stack.of("AWS::EKS::Cluster")}
    return stack.inventory(clusters[one_cluster(stack.template, clusters, name)])


@dataclass(frozen=True, slots=True)
class _Resource:
    id: str
    properties: FileValue


@dataclass(slots=True)
class _Stack:
    template: FileValue | None = None
    physical: dict[str, str] = field(default_factory=dict)
    """Physical ID by logical ID."""
    parameters: dict[str, str] = field(default_factory=dict)
    pseudo: dict[str, str] = field(default_factory=dict)
    findings: dict[Unexpressed, None] = field(default_factory=dict)
    _cache: dict[str, list[_Resource]] = field(default_factory=dict)

    def add(self, document: FileValue) -> None:
        """Add a file, which is recognized by its keys."""
        keys = document.map()
        for key in ("StackResources", "StackResourceSummaries"):
            for item in document.at(key).items():
                self.physical[item.at("LogicalResourceId").text()] = item.at("PhysicalResourceId").text()
                self._names_in(item.at("StackId").text())
        for stack in document.at("Stacks").items():
            self._names_in(stack.at("StackId").text())
            for item in stack.at("Parameters").items():
                value = item.at("ResolvedValue").text() or item.at("ParameterValue").text()
                self.parameters[item.at("ParameterKey").text()] = value
        if "TemplateBody" in keys:
            document = document.at("TemplateBody")
            if isinstance(document.raw, str):
                document.fail("is a template as a text; save it to a file of its own, and pass that")
            keys = document.map()
        if "Resources" in keys:
            if self.template:
                document.fail(f"is a second template, besides {self.template.file}; pass one stack at a time")
            self.template = document
        elif not {"StackResources", "StackResourceSummaries", "Stacks"} & keys.keys():
            document.fail(f"is neither a template (Resources) nor the description of a stack; {_NEXT}")

    def _names_in(self, stack_id: str) -> None:
        parts = stack_id.split(":")
        if len(parts) > 5:
            self.pseudo |= {"AWS::Partition": parts[1], "AWS::Region": parts[3], "AWS::AccountId": parts[4]}
            self.pseudo |= {"AWS::StackId": stack_id, "AWS::StackName": "".join(parts[5].split("/")[1:2])}

    def of(self, kind: str) -> list[_Resource]:
        """Return the resources of a type, with their functions resolved."""
        if kind not in self._cache:
            self._cache[kind] = list(self._read(kind))
        return self._cache[kind]

    def _read(self, kind: str) -> Iterator[_Resource]:
        assert self.template is not None  # noqa: S101  read_cloudformation has checked it
        resources = self.template.at("Resources")
        for id_ in resources.map():
            if resources.at(id_, "Type").text() != kind:
                continue
            given = resources.at(id_, "Properties")
            values = {}
            for key in _READ[kind]:
                if key in given.map():
                    values[key] = self._resolved(given.at(key).raw, id_, key, 0)
            yield _Resource(id_, FileValue(given.file, given.path, values))

    def _resolved(self, value: Any, id_: str, path: str, depth: int) -> Any:  # noqa: ANN401  of the file
        """Return a value without functions; None and a finding for those whose result is unknown."""
        if depth > _DEEPEST:
            return None
        if isinstance(value, list):
            return [self._resolved(item, id_, f"{path}[{n}]", depth + 1) for n, item in enumerate(value)]
        if not isinstance(value, dict):
            return value
        function = next(iter(value), "") if len(value) == 1 else ""
        if function != "Ref" and not str(function).startswith("Fn::"):
            return {key: self._resolved(inner, id_, f"{path}.{key}", depth + 1) for key, inner in value.items()}
        found = self._called(function, value[function])
        if found is None:
            reason = f"{path}: the result of {function} is not determined by the files; {_NEXT}"
            self.findings[Unexpressed(f"resource {id_}", reason)] = None
        return found

    def _called(self, function: str, argument: Any) -> str | None:  # noqa: ANN401  of the file
        if function == "Ref" and isinstance(argument, str):
            return self._referred(argument)
        if function == "Fn::Sub" and isinstance(argument, str):
            parts = {name: self._referred(name) for bang, name in _VARIABLE.findall(argument) if not bang}
            if any(text is None for text in parts.values()):
                return None
            return _VARIABLE.sub(lambda match: f"${{{match[2]}}}" if match[1] else parts[match[2]] or "", argument)
        if function == "Fn::Join" and isinstance(argument, list) and len(argument) == 2:
            separator, items = argument
            texts: list[Any] = [
                self._called(next(iter(item)), next(iter(item.values()))) if isinstance(item, dict) and item else item
                for item in (items if isinstance(items, list) else [None])
            ]
            if isinstance(separator, str) and all(isinstance(text, str) for text in texts):
                return separator.join(texts)
        return None

    def _referred(self, name: str) -> str | None:
        if name in self.pseudo or name in self.parameters:
            return self.pseudo.get(name) or self.parameters.get(name)
        if self.physical.get(name):
            return self.physical[name]
        # The Ref of a cluster is its name (AWS::EKS::Cluster, Return values).
        assert self.template is not None  # noqa: S101  read_cloudformation has checked it
        resource = self.template.at("Resources").map().get(name)
        if isinstance(resource, dict) and resource.get("Type") == "AWS::EKS::Cluster":
            given = (resource.get("Properties") or {}).get("Name")
            return given if isinstance(given, str) else None
        return None

    def name_of(self, resource: _Resource, key: str) -> str:
        """Return the name that a resource has or that AWS gave it; a node group's ID also has that of its cluster."""
        given = resource.properties.at(key).text() or self.physical.get(resource.id, "")
        return given.rpartition("/")[2].rpartition("|")[2]

    def inventory(self, cluster: _Resource) -> Inventory:
        name, values = self.name_of(cluster, "Name"), cluster.properties
        used = [item for item in values.at("ResourcesVpcConfig", "SubnetIds").items() if item.raw is not None]
        subnets, vpc = self._subnets({item.text() for item in used})
        zones = {subnet.id: subnet.zone for subnet in subnets}
        addons = {item.properties.at("AddonName").text() for item in self._in(name, "AWS::EKS::Addon")}
        family = values.at("KubernetesNetworkConfig", "IpFamily").text()
        providers = [self.physical.get(item, "") for item in self._ids("AWS::IAM::OIDCProvider")]
        profiles = [self.name_of(item, "FargateProfileName") for item in self._in(name, "AWS::EKS::FargateProfile")]
        groups = (
            *(self._group(item, zones) for item in self._in(name, "AWS::EKS::Nodegroup")),
            *unexpressed(profiles, "Fargate profile", FARGATE),
            *unexpressed(self._self_managed(name), "Auto Scaling group", SELF_MANAGED),
        )
        reservations = tuple(self._reservations())
        return Inventory(
            source=values.file,
            cluster=FoundCluster(
                name=name,
                region=self.pseudo.get("AWS::Region", ""),
                version=values.at("Version").scalar(),
                vpc_id=vpc,
                subnets=tuple(item.text() for item in used),
                account=self.pseudo.get("AWS::AccountId", ""),
                ip_family=family or "ipv4",
                oidc_provider=next(filter(None, providers), "") if len(providers) == 1 else "",
                addons=frozenset(addons) if addons else None,
            ),
            subnets=subnets,
            groups=groups,
            reservations=reservations,
            findings=tuple(self.findings),
        )

    def _ids(self, kind: str) -> list[str]:
        assert self.template is not None  # noqa: S101  read_cloudformation has checked it
        resources = self.template.at("Resources")
        return [id_ for id_ in resources.map() if resources.at(id_, "Type").text() == kind]

    def _in(self, cluster: str, kind: str) -> list[_Resource]:
        return [item for item in self.of(kind) if item.properties.at("ClusterName").text() == cluster]

    def _subnets(self, used: Iterable[str]) -> tuple[tuple[Subnet, ...], str]:
        """Return the subnets of the VPC of a cluster, and the ID of the VPC."""
        routes = Routes()
        for table in self.of("AWS::EC2::RouteTable"):
            routes.table(self.physical.get(table.id, table.id))
        for route in self.of("AWS::EC2::Route"):
            routes.route(route.properties.at("RouteTableId").text(), route.properties.at("GatewayId").text())
        for item in self.of("AWS::EC2::SubnetRouteTableAssociation"):
            routes.associate(item.properties.at("SubnetId").text(), item.properties.at("RouteTableId").text())
        found = {self.physical.get(item.id, ""): item.properties for item in self.of("AWS::EC2::Subnet")}
        found.pop("", None)
        vpcs = {found[id_].at("VpcId").text() for id_ in used if id_ in found} - {""}
        vpc = vpcs.pop() if len(vpcs) == 1 else ""
        subnets = [
            Subnet(
                id_,
                values.at("AvailabilityZone").text(),
                routes.is_public(
                    id_,
                    vpc,
                    {tag.at("Key").text(): tag.at("Value").scalar() for tag in values.at("Tags").items()},
                    assigns=values.at("MapPublicIpOnLaunch").scalar() == "true",
                ),
            )
            for id_, values in sorted(found.items())
            if vpc and values.at("VpcId").text() == vpc
        ]
        return tuple(subnets), vpc

    def _group(self, item: _Resource, zones: Mapping[str, str]) -> FoundGroup:
        values, template = item.properties, self._template(item.properties.at("LaunchTemplate"))
        types = values.at("InstanceTypes").texts() or tuple(filter(None, [template.at("InstanceType").text()]))
        target = template.at("CapacityReservationSpecification", "CapacityReservationTarget")
        referred = bool(values.at("LaunchTemplate").map())
        return FoundGroup(
            name=self.name_of(item, "NodegroupName"),
            instance_types=types,
            capacity=values.at("CapacityType").text() or "ON_DEMAND",
            minimum=values.at("ScalingConfig", "MinSize").number(),
            maximum=values.at("ScalingConfig", "MaxSize").number(),
            labels=values.at("Labels").texts_by_key(),
            taints=tuple(
                Taint(taint.at("Key").text(), taint.at("Value").scalar(), EFFECTS.get(taint.at("Effect").text(), ""))
                for taint in values.at("Taints").items()
            ),
            ami_type=values.at("AmiType").text(),
            zones=zones_of((item.text() for item in values.at("Subnets").items()), zones),
            role=values.at("NodeRole").text(),
            reservation=target.at("CapacityReservationId").text(),
            efa=any(it.at("InterfaceType").text() == "efa" for it in template.at("NetworkInterfaces").items()),
            notes=("its launch template is not in the template",) if referred and not template.map() else (),
        )

    def _template(self, reference: FileValue) -> FileValue:
        id_ = reference.at("Id").text()
        for item in self.of("AWS::EC2::LaunchTemplate"):
            if id_ and self.physical.get(item.id) == id_:
                return item.properties.at("LaunchTemplateData")
        return FileValue(reference.file, reference.path, None)

    def _self_managed(self, cluster: str) -> Iterator[str]:
        for item in self.of("AWS::AutoScaling::AutoScalingGroup"):
            tags = {tag.at("Key").text() for tag in item.properties.at("Tags").items()}
            if f"kubernetes.io/cluster/{cluster}" in tags:
                yield self.physical.get(item.id, item.id)

    def _reservations(self) -> Iterator[FoundReservation]:
        for item in self.of("AWS::EC2::CapacityReservation"):
            values = item.properties
            if self.physical.get(item.id):
                yield FoundReservation(
                    id=self.physical[item.id],
                    instance_type=values.at("InstanceType").text(),
                    zone=values.at("AvailabilityZone").text(),
                    count=values.at("InstanceCount").number() or 0,
                    ends=values.at("EndDate").moment(),
                    targeted=values.at("InstanceMatchCriteria").text() == "targeted",
                )
