"""Typed settings of a stack. All problems are reported at once, each with the YAML to write."""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_origin

import pulumi
from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator

from components.checks.front_door.settings import Acme, Door
from components.checks.front_door.words import Exposure, IssuerKind, TlsKind
from components.clouds.aws.access import account_of
from components.clouds.aws.api_server import SSM_ENDPOINTS
from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.facts.iam import BOUNDARY
from components.clouds.aws.facts.regions import regions
from components.clouds.aws.names import dns_solver
from components.clouds.aws.nodes.launch import USUAL_REGION
from components.clouds.aws.nodes.settings_location import SettingsLocation
from components.clouds.aws.storage.volumes import FOLDER_IMAGE
from components.clouds.aws.subnets import CIDR, in_order
from components.clouds.aws.words import NatGateways, Provisioner, ServiceLinkedRole
from components.contract import clock
from components.contract.base import combined_error
from components.contract.problems import did_you_mean
from components.contract.tables import read_table
from components.contract.texts.durations import seconds
from components.contract.texts.secrets import SECRET_TEXT
from components.contract.texts.unseen import unseen_texts
from components.fleet.instances import instances_beside
from components.fleet.timeouts import Waits
from components.plan.faults import SettingsFault, faults
from components.plan.prerequisites.needed import ClusterFacts
from components.plan.section import Flag
from components.plan.settings import FleetSettings
from components.resources.aws.argument_problems import cluster_problems, repeated
from components.resources.aws.cluster_settings import ClusterSettings
from components.resources.aws.network_checks import control_plane_problems, existing_cidr_problems, placement_problems
from components.resources.aws.node_settings import OPERATED_TAINTS, NodeSettings
from components.resources.aws.storage.settings import S3_DRIVER

from . import PROJECT
from .adopted_settings import AdoptedSettings
from .aws_settings import REGION, CredentialsSettings, DnsSettings
from .cache_settings import CacheSettings
from .clouds import CloudName
from .image_settings import CachePlace, StackImageCache, placed_problems
from .network_settings import StackNetwork
from .stack_file import StackFile
from .timeout_settings import TimeoutSettings


class Settings(FleetSettings):
    """Settings of one environment.

    Pulumi.yaml repeats the defaults for the Pulumi CLI, next to the descriptions.
    """

    models: list[str] = Field(default_factory=lambda: ["stacks/models"], min_length=1)
    cloud: CloudName = CloudName.NONE
    region: str = Field(default=USUAL_REGION, pattern=REGION)
    kubeconfig: str = Field(default="", validate_default=True)
    context: str = ""
    cluster_name: str = Field(default="cluster", min_length=1)
    tags: dict[str, str] = Field(default_factory=dict)
    protect: Flag = False
    permissions_boundary_arn: str = Field(default="", pattern=f"^$|{BOUNDARY}")
    network: StackNetwork = Field(default_factory=StackNetwork)
    credentials: CredentialsSettings = Field(default_factory=CredentialsSettings)
    cluster: ClusterSettings = Field(default_factory=ClusterSettings)
    gpu_nodes: NodeSettings = Field(default_factory=NodeSettings)
    model_cache: CacheSettings = Field(default_factory=CacheSettings)
    image_cache: StackImageCache = Field(default_factory=StackImageCache)
    dns: DnsSettings = Field(default_factory=DnsSettings)
    timeouts: TimeoutSettings = Field(default_factory=TimeoutSettings)
    adopted: AdoptedSettings = Field(default_factory=AdoptedSettings)

    @field_validator("kubeconfig")
    @classmethod
    def _some_cluster(cls, value: str, info: ValidationInfo) -> str:
        if not value and info.data.get("cloud") == CloudName.NONE:
            raise ValueError("is required if cloud is none")
        return value

    @model_validator(mode="after")
    def _name_on_aws(self) -> "Settings":
        problems = cluster_problems("clusterName", self.cluster_name) if self.cloud == CloudName.AWS else ()
        for key, reason in problems:
            raise ValueError(f"{key}: {reason}")
        return self

    @model_validator(mode="after")
    def _own_cluster_on_aws(self) -> "Settings":
        keys = [key for key in ("kubeconfig", "context") if getattr(self, key)]
        if keys and self.cloud == CloudName.AWS:
            raise ValueError(f"cloud: aws creates its own kubeconfig; remove {' and '.join(keys)}")
        return self

    @model_validator(mode="after")
    def _zones_on_aws(self) -> "Settings":
        if self.cloud == CloudName.AWS and len(self.network.node_zones) < 2:
            raise ValueError("network: set at least two zones, which the control plane of EKS requires")
        return self

    @model_validator(mode="after")
    def _network_on_aws(self) -> "Settings":
        """Reject unknown zones, changes of zones that EKS does not support, and a range without effect."""
        if self.cloud != CloudName.AWS or len(self.network.node_zones) < 2:
            return self
        cluster, node_zones = self.cluster, self.network.node_zones
        setting = "network.privateSubnets" if self.network.vpc_id else "network.zones"
        problems: list[tuple[str, str]] = []
        if self.network.vpc_id:
            # The plan of network policies uses the range, so that it must be one that the network accepts.
            problems += (
                (f"network.{key}", reason)
                for key, reason in existing_cidr_problems(self.network.cidr or None, self.network.interface_endpoints)
            )
        if not cluster.existing:
            problems += control_plane_problems("cluster.zones", cluster.zones, node_zones, setting)
            if not self.network.vpc_id:
                problems += placement_problems("network.zones", node_zones, cluster.zones)
        for key, zones in (("cluster.systemZones", cluster.system_zones), ("gpuNodes.zones", self.gpu_nodes.zones)):
            problems += repeated(key, zones)
            missing = [zone for zone in zones if zone not in node_zones]
            if missing:
                reason = f"{', '.join(missing)}: not in {setting} ({', '.join(node_zones)}); use other zones"
                problems.append((key, reason))
        if problems:
            raise combined_error([((key,), reason) for key, reason in problems])
        return self

    @property
    def zones(self) -> tuple[str, ...]:
        """Zones with a private subnet, in an order that does not depend on that of the settings."""
        return tuple(in_order(self.network.node_zones, self.control_plane_zones))

    @property
    def control_plane_zones(self) -> tuple[str, ...]:
        """Zones of the control plane's subnets; empty if the settings name none."""
        return () if self.cluster.existing else tuple(self.cluster.zones)

    @model_validator(mode="after")
    def _pod_identity(self) -> "Settings":
        if self.cluster.oidc_provider_arn and not self.cluster.existing:
            raise ValueError(
                "cluster.oidcProviderArn: is only for existing clusters without Pod Identity; remove it: new "
                "clusters have the Pod Identity agent"
            )
        return self

    @model_validator(mode="after")
    def _bastion_on_aws(self) -> "Settings":
        network = self.network
        missing = [endpoint for endpoint in SSM_ENDPOINTS if endpoint not in network.interface_endpoints]
        closed = network.nat_gateways == NatGateways.NONE and not network.vpc_id
        if self.cloud == CloudName.AWS and self.cluster.bastion and closed and missing:
            raise ValueError(
                f"network: add {' and '.join(missing)} to interfaceEndpoints, through which the bastion reaches "
                "Session Manager without NAT gateways"
            )
        return self

    @model_validator(mode="after")
    def _creator_on_aws(self) -> "Settings":
        role, cluster = self.credentials.assume_role_arn, self.cluster
        if role and cluster.creator_is_admin and not cluster.existing and role in cluster.admin_role_arns:
            raise ValueError(
                f"cluster: adminRoleArns contains {role}, the role of credentials.assumeRoleArn, which administers "
                "the cluster because it creates it; EKS rejects a second access entry: remove it from adminRoleArns, "
                "or set creatorIsAdmin to false before the cluster is created"
            )
        return self

    @model_validator(mode="after")
    def _storage_on_aws(self) -> "Settings":
        kinds = self.model_cache.on_aws
        if kinds and self.cloud != CloudName.AWS:
            raise ValueError(f"modelCache: {', '.join(kinds)}: requires cloud: aws; elsewhere set claim or hostPath")
        zone = self.model_cache.zone
        if zone and zone not in self.network.node_zones:
            raise ValueError(
                f"modelCache: fsx: zone {zone} is not a zone of the network; use one of "
                f"{', '.join(self.network.node_zones)}"
            )
        version = self.cluster.addons.get(S3_DRIVER, "")
        if self.model_cache.s3 and version.startswith("v1."):
            raise ValueError(
                f"cluster.addons: {S3_DRIVER} {version} cannot mount with the permissions of pods; use v2"
            )
        return self

    @model_validator(mode="after")
    def _image_cache_on_aws(self) -> "Settings":
        cache = self.image_cache
        if cache == StackImageCache():
            return self
        place = None if self.cloud != CloudName.AWS else CachePlace(self.region, self.cache_account)
        problems = list(placed_problems(cache, place))
        if problems:
            raise combined_error((("imageCache", *path), reason) for path, reason in problems)
        return self

    @property
    def cache_account(self) -> str | None:
        """ID of the account whose registry caches images; None if no setting contains it."""
        credentials = self.credentials
        if self.image_cache.account:
            return self.image_cache.account
        if role_account := account_of(credentials.assume_role_arn or ""):
            return role_account
        accounts = self.image_cache.accounts or frozenset(credentials.allowed_account_ids)
        return next(iter(accounts)) if len(accounts) == 1 else None

    @model_validator(mode="after")
    def _dns_on_aws(self) -> "Settings":
        if not self.dns.model_fields_set or self.cloud != CloudName.AWS:
            return self
        if not self.dns.hosted_zone_id:
            raise ValueError("dns: has no effect without hostedZoneId; set it, or remove the section")
        if self.front_door.expose != Exposure.GATEWAY or not self.front_door.host:
            raise ValueError(
                "dns: requires a gateway with a name; set frontDoor.expose to gateway, and frontDoor.host"
            )
        tls = self.front_door.tls
        if self.dns.acme and (tls.kind != TlsKind.CERT_MANAGER or tls.issuer_kind != IssuerKind.CLUSTER):
            raise ValueError(
                "dns: acme: creates a ClusterIssuer of cert-manager; set frontDoor.tls to {kind: cert-manager, "
                "issuer: ...}, or remove acme"
            )
        return self

    @model_validator(mode="after")
    def _spot_role_on_aws(self) -> "Settings":
        created = self.cluster.spot_service_linked_role == ServiceLinkedRole.CREATE
        if created and self.gpu_nodes.provisioner != Provisioner.KARPENTER:
            raise ValueError(
                "cluster: spotServiceLinkedRole: create is only for Karpenter; remove it: EC2 Auto Scaling launches "
                "the nodes of managed groups, and creates the role itself"
            )
        return self

    def door(self) -> Door:
        """Return the front door, with DNS and certificates in AWS."""
        door, dns = super().door(), self.dns
        if not dns.hosted_zone_id:
            return door
        solver = dns_solver(dns.hosted_zone_id, self.region)
        acme = Acme(solver, dns.acme.server, dns.acme.email) if dns.acme else None
        return replace(door, acme=acme, awaited=dns.record)

    def waits(self) -> Waits:
        """Return what updates wait for, with the session of the credentials."""
        session = self.credentials.session_duration
        return replace(super().waits(), session=seconds(session) if session else None, by_stack=True)

    @property
    def answers_challenges(self) -> bool:
        """Whether cert-manager solves DNS-01 challenges in the hosted zone."""
        return bool(self.dns.hosted_zone_id) and self.front_door.tls.kind == TlsKind.CERT_MANAGER

    @property
    def buckets(self) -> list[str]:
        """S3 locations that pods read: model buckets and mounted buckets."""
        mounted = [location for location in self.model_cache.s3.values() if location not in self.model_buckets]
        return [*self.model_buckets, *dict.fromkeys(mounted)]

    @property
    def addons(self) -> dict[str, str]:
        """Add-ons of the cluster: requested ones, and drivers of the model cache."""
        return {**dict.fromkeys(self.model_cache.drivers, ""), **self.cluster.addons}

    @model_validator(mode="after")
    def _tolerated(self) -> "Settings":
        if self.gpu_nodes.has_taints and self.is_operated:
            raise ValueError(f"gpuNodes.taints: {OPERATED_TAINTS}")
        return self

    @functools.cached_property
    def cloud_environment(self) -> AwsEnvironment | None:
        """Facts about AWS, as of now; None elsewhere."""
        if self.cloud != CloudName.AWS:
            return None
        with instances_beside(self.types):
            return self._aws_environment()

    def _aws_environment(self) -> AwsEnvironment:
        network = self.network
        labels = self.pods.node_selector
        location = SettingsLocation(self.file, "gpuNodes")
        gpu_nodes = self.gpu_nodes
        if self.cluster.existing and gpu_nodes.prefix_delegation is None:
            # EKS installs the VPC CNI plugin without prefix delegation.
            gpu_nodes = gpu_nodes.model_copy(update={"prefix_delegation": False})
        described = self.cluster.described_version
        if described and not gpu_nodes.ami_release:
            gpu_nodes = gpu_nodes.model_copy(update={"ami_release": described.images.get(gpu_nodes.image, "")})
        zones, usual = self.zones, self.control_plane_zones
        nodes = gpu_nodes.environment(self.region, zones, self.cluster.version, labels, location, usual)
        return AwsEnvironment(
            region=self.region,
            nodes=replace(nodes, system_vcpus=self.cluster.system_vcpus),
            existing=self.cluster.existing,
            support=self.cluster.support,
            version_named="version" in self.cluster.model_fields_set,
            described_version=described,
            addons=frozenset(self.addons),
            cache_zone=self.model_cache.zone,
            control_plane_zones=self.control_plane_zones,
            system_zones=tuple(self.cluster.system_zones),
            cidr=network.cidr or (None if network.vpc_id else CIDR),
            system_types=tuple(self.cluster.system_instance_types),
            system_scales=self.cluster.system_nodes_max is not None and not self.cluster.existing,
            image_cache=self.image_cache.cache(self.region, self.cache_account),
            addresses=network.addresses,
            exits=network.exits,
            web_identity=self.cluster.oidc_provider_arn is not None,
            models_in_s3=bool(self.buckets),
            bucket_claims=frozenset(self.model_cache.s3),
            bastion=self.cluster.bastion,
            images=(FOLDER_IMAGE,) if self.model_cache.fsx else (),
        )

    def facts(self) -> ClusterFacts:
        """Return facts about the cluster for its prerequisites."""
        facts = replace(super().facts(), today=clock.today())
        if self.cloud != CloudName.AWS:
            return facts
        # New clusters have the add-on, with which a second metrics-server would conflict.
        addons = set[str]() if self.cluster.existing else {"metrics-server"}
        uses_karpenter = self.gpu_nodes.provisioner == Provisioner.KARPENTER
        return replace(
            facts,
            version=self.cluster.version,
            node_autoscaler="karpenter" if uses_karpenter else "cluster-autoscaler",
            on_nodes=self.gpu_nodes.image.brings,
            present=facts.present | addons,
        )


_EXAMPLES = {
    "models": "[stacks/models]",
    "kubeconfig": ".workbench/kubeconfig",
    "modelCache": "{claim: model-cache}",
    "imageCache": '{registries: [quay.io, registry.k8s.io], account: "123456789012"}',
    "pods": "{serviceAccountName: inference}",
    "realizations": "{llmd: operator}",
    "releases": "{kthena: v1.0.0}",
    "ignore": "{access-anonymous: only the VPN gateway has access}",
    "simulatedNodes": "true",
    "customResources": "true",
    "region": "us-east-1",
    "network": "{zones: [us-east-1a, us-east-1b]}",
    "adopted": "{objects: [apps/Deployment/models/chat, core/Namespace/models]}",
}


_STRUCTURED = {
    field.alias or name: "list" if kind is list else "map"
    for name, field in Settings.model_fields.items()
    if isinstance(kind := get_origin(field.annotation) or field.annotation, type)
    and issubclass(kind, list | dict | BaseModel)
}
"""The keys whose values are lists or maps, which Pulumi stores as JSON, with list or map."""


def read() -> Settings:
    """Read the settings of the stack that is being deployed.

    Raises:
        pulumi.RunError: keys are unknown or values invalid; lists all problems.
    """
    from pulumi.runtime.config import CONFIG, get_config_env

    # pulumi.Config returns only single keys by name, so that unknown keys would remain undetected.
    defaults = declared_defaults(Path("Pulumi.yaml"))
    return from_config({**get_config_env(), **CONFIG.get()}, pulumi.get_stack(), defaults=defaults, folder=Path())


def from_config(
    config: Mapping[str, Any],
    stack: str,
    overrides: Mapping[str, Any] | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> Settings:
    """Return the settings in the configuration of a stack: full keys, those of other projects among them.

    Args:
        config: The configuration.
        stack: Name of the stack, for messages.
        overrides: Settings that take precedence, by key.
        defaults: Settings for keys that the configuration does not set.
        folder: The project folder, whose file of the stack tells the lines of settings.

    Raises:
        pulumi.RunError: keys are unknown or values invalid; lists all problems.
    """
    prefix = f"{PROJECT}:"
    values = {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}
    file = f"Pulumi.{stack}.yaml"
    stored = StackFile(file, folder).config() if folder else {}
    sealed = {key: _sealed(value, stored.get(f"{prefix}{key}", stored.get(key))) for key, value in values.items()}
    if sealed != values:
        # Commands that check settings need no passphrase. So that all have the same verdict with and without one, no
        # setting whose value is checked may be encrypted.
        parse({**(defaults or {}), **sealed, **(overrides or {})}, file, folder)
    return parse({**(defaults or {}), **values, **(overrides or {})}, file, folder)


def _sealed(value: Any, stored: Any) -> Any:  # noqa: ANN401  JSON
    """Return a value, which may be JSON text, with the placeholder wherever the file of the stack has a secret."""
    parsed = _parsed(value) if isinstance(value, str) and isinstance(stored, dict | list) else value
    try:
        sealed = _with_placeholders(parsed, stored)
    except RecursionError:
        return value  # too deep for the settings as well
    return value if sealed == parsed else sealed


def _with_placeholders(value: Any, stored: Any) -> Any:  # noqa: ANN401  JSON
    if isinstance(stored, dict) and set(stored) == {"secure"}:
        return SECRET_TEXT
    if isinstance(value, dict) and isinstance(stored, dict):
        return {key: _with_placeholders(inner, stored.get(key)) for key, inner in value.items()}
    if isinstance(value, list) and isinstance(stored, list) and len(value) == len(stored):
        return [_with_placeholders(inner, stored_inner) for inner, stored_inner in zip(value, stored, strict=True)]
    return value


def parse(values: Mapping[str, Any], file: str, folder: Path | None = None) -> Settings:
    """Return settings from configuration values; lists and maps may be JSON text.

    Args:
        values: The values, by key.
        file: Name of the stack's file, for messages.
        folder: The project folder with that file; None if the settings are not in a file yet.

    Raises:
        pulumi.RunError: keys are unknown or values invalid; lists all problems.
    """
    source = StackFile(file, folder)
    wrong: list[SettingsFault] = []
    read = dict(values)
    for key, value in values.items():
        kind = _STRUCTURED.get(key)
        if not isinstance(value, str):
            continue
        parsed = _parsed(value)
        if kind is None:
            # Pulumi passes lists and maps as JSON, also to settings that are texts.
            if isinstance(parsed, list | dict):
                read[key] = parsed
        elif isinstance(parsed, list | dict):
            read[key] = parsed
        else:
            wrong.append(SettingsFault((key,), f"must be a YAML {kind}, found {value!r}"))
            read[key] = [] if kind == "list" else {}
    problems = [
        source.message(".".join(map(str, text.path)), text.reason)
        for key, value in read.items()
        for text in unseen_texts(value, (key,))
    ]
    try:
        settings = Settings.model_validate({**read, "file": file})
    except ValidationError as error:
        wrong += faults(error, Settings)
    else:
        wrong += (SettingsFault(path, "") for path, name in _files(settings) if name == SECRET_TEXT)
    # Texts that are JSON are parsed once, not for each fault in them.
    structured = {key: value if read[key] in ([], {}) else read[key] for key, value in values.items()}
    problems += (_message(source, fault, structured) for fault in wrong)
    if problems:
        raise pulumi.RunError("\n".join(problems))
    return settings


def _files(settings: Settings) -> Iterator[tuple[tuple[str | int, ...], str | None]]:
    """Yield the settings that name a file to read, each with its value."""
    for position, name in enumerate(settings.models):
        yield ("models", position), name
    yield ("prices",), settings.prices
    for model, shape in settings.model_shapes.items():
        yield ("modelShapes", model, "config"), shape.config


def _parsed(text: str) -> Any:  # noqa: ANN401  JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _message(file: StackFile, fault: SettingsFault, values: Mapping[str, Any]) -> str:
    """Return a message with the YAML to write, if there is an example for the key."""
    key = str(fault.path[0])
    example = None if fault.unknown else _EXAMPLES.get(key)
    reason = _place_reason(fault) or fault.reason
    if _is_encrypted(values, fault.path):
        reason = f"is encrypted, so that it cannot be checked{'' if example else '; write it in clear text'}"
    message = file.message(".".join(map(str, fault.path)), reason)
    return f"{message}; write under config:\n    {PROJECT}:{key}: {example}" if example else message


def _is_encrypted(values: Mapping[str, Any], path: Sequence[str | int]) -> bool:
    """Whether the value at a path is the placeholder of a secret that was not decrypted."""
    value: Any = values
    for part in path:
        if isinstance(value, str):
            value = _parsed(value)
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(value, str) and value == SECRET_TEXT


def _place_reason(fault: SettingsFault) -> str:
    """Return the reason of a misspelled region or zone: what it should be; empty for any other fault."""
    _, pattern, found = fault.reason.partition("must match pattern ")
    found = found.rpartition(", found ")[2].strip("'")
    keys = {str(part) for part in fault.path}
    if not pattern or keys.isdisjoint(("region", "zone", "zones")):
        return ""
    if "region" in keys:
        return f"must be a region such as us-east-1, found {found!r}{did_you_mean(found, sorted(regions()))}"
    hint = f"; {found} is a region, and {found}a a zone of it" if found in regions() else ""
    return f"must be a zone such as us-east-1a, found {found!r}{hint}"


def declared(project_file: Path) -> dict[str, dict[str, Any]]:
    """Return the declaration of every key in Pulumi.yaml: type, description and default."""
    config = read_table(project_file).get("config", {})
    prefix = f"{PROJECT}:"
    return {key.removeprefix(prefix): facts for key, facts in config.items() if key.startswith(prefix)}


def declared_defaults(project_file: Path) -> dict[str, Any]:
    """Return the defaults in Pulumi.yaml. The CLI applies them, but other hosts may not."""
    return {key: facts["default"] for key, facts in declared(project_file).items() if "default" in facts}
