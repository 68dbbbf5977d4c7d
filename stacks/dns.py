"""The DNS name of a stack's gateway, and requirements in the account that a stack neither creates nor can check."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.checks.front_door.words import TlsKind
from components.clouds.aws.names import CREATE_SPOT_ROLE, SPOT_ROLE, dns_solver
from components.clouds.aws.words import Provisioner, ServiceLinkedRole
from components.fleet.nodes.policy import Capacity
from components.fleet.objects import address_in
from components.plan.plan import Plan
from components.resources.aws.gateway_record import GatewayRecord
from components.resources.serving.object_set import ObjectSet

from .settings import Settings


def gateway_name(
    settings: Settings, planned: Plan, door: ObjectSet | None, aws: pulumi.ProviderResource
) -> dict[str, Any]:
    """Create the DNS record of the gateway, if its hosted zone is set; return the stack output ``dns``."""
    host, source = settings.front_door.host, planned.door.gateway
    if door is None or source is None or not host:
        return {}
    gateway = door.objects[source.kind, source.namespace, source.name]
    address = gateway.status.apply(lambda status: address_in(status, source.fields))
    zone = settings.dns.hosted_zone_id
    creates_record = bool(zone and settings.dns.record)
    if zone and creates_record:
        GatewayRecord(
            "gateway",
            {
                "host": host,
                "hosted_zone_id": zone,
                "region": settings.region,
                "address": address.apply(lambda known: known or ""),
            },
            pulumi.ResourceOptions(providers=[aws]),
        )
    return {"dns": {"name": host, "address": address, "createdHere": creates_record}}


def to_provide(settings: Settings, planned: Plan) -> Mapping[str, str]:
    """Return the requirements that the stack does not create, each with instructions."""
    missing: dict[str, str] = {}
    if _uses_spot(settings, planned) and settings.cluster.spot_service_linked_role == ServiceLinkedRole.EXISTING:
        missing["spotServiceLinkedRole"] = (
            f"{SPOT_ROLE}, once in the account, unless it exists: {CREATE_SPOT_ROLE}; or set "
            "cluster.spotServiceLinkedRole to create"
        )
    host, dns, tls = settings.front_door.host, settings.dns, settings.front_door.tls
    if planned.door.gateway is None or not host:
        return missing
    if not (dns.hosted_zone_id and dns.record):
        missing["dnsRecord"] = (
            f"a record for {host}, an alias or a CNAME, that points at the address in the output dns; or set "
            "dns.hostedZoneId to create it in Route 53"
        )
    if tls.kind == TlsKind.CERT_MANAGER:
        if not dns.hosted_zone_id:
            missing["dnsChallenge"] = (
                f"rights for cert-manager (service account cert-manager/cert-manager) to write TXT records "
                f"_acme-challenge.{host}, which the issuer's DNS-01 solver needs; or set dns.hostedZoneId, and it "
                "gets a role for that zone in Route 53"
            )
        if dns.acme is None:
            zone = dns.hosted_zone_id or "<id of the hosted zone>"
            missing["issuer"] = (
                f"{tls.issuer_kind} {tls.issuer}, for example with the ACME solver "
                f"{dns_solver(zone, settings.region)}; or set dns.acme"
            )
    return missing


def _uses_spot(settings: Settings, planned: Plan) -> bool:
    """Return whether Karpenter may launch Spot Instances.

    For managed groups, EC2 Auto Scaling launches them and creates the role itself (AWS managed policy reference,
    AutoScalingServiceRolePolicy, statement EC2SpotManagement).
    """
    if settings.gpu_nodes.provisioner != Provisioner.KARPENTER:
        return False
    general = settings.gpu_nodes.general_pool
    return any(group.demand.capacity == Capacity.SPOT for group in planned.cloud_groups) or (
        general is not None and Capacity.SPOT in general.capacity
    )
