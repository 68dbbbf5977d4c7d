"""The DNS record of a gateway in Route 53.

GatewayRecord
└── route53.Record   <name>
"""

import re

import pulumi
from pulumi_aws import route53

from ...checks.front_door.settings import is_host
from ...clouds.aws.facts.regions import load_balancer_zone
from ...clouds.aws.names import HOSTED_ZONE
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import GatewayRecordArgs
from .argument_problems import Problems

_SECONDS = 300
"""TTL of a CNAME."""


class GatewayRecord(pulumi.ComponentResource):
    """Points a DNS name at a gateway's load balancer.

    The record is an alias: queries are free, and the name may be that of the zone itself (Route 53 developer guide,
    "Choosing between alias and non-alias records"). It is a CNAME in regions whose hosted zone of load balancers this
    package does not know.
    """

    host: pulumi.Output[str]
    """The DNS name; users of this output depend on the record."""

    def __init__(self, name: str, args: GatewayRecordArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the record.

        Raises:
            InvalidArguments: arguments are missing, unknown or wrong; every problem is listed.
        """
        args = checked_args(name, args, GatewayRecordArgs, _problems)
        super().__init__(token("GatewayRecord"), name, {}, opts)
        zone, target = load_balancer_zone(args["region"]), args["address"]
        # There is no other address to fail over to.
        alias = route53.RecordAliasArgs(name=target, zone_id=zone, evaluate_target_health=False)
        record = route53.Record(
            name,
            zone_id=args["hosted_zone_id"],
            name=args["host"],
            type="A" if zone else "CNAME",
            aliases=[alias] if zone else None,
            ttl=None if zone else _SECONDS,
            records=None if zone else [target],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.host = record.name
        self.register_outputs({"host": self.host})


def _problems(args: GatewayRecordArgs) -> Problems:
    host, zone = args.get("host", ""), args.get("hosted_zone_id", "")
    if not is_host(host):
        yield "host", f"must be a DNS name such as models.example.com, found {host!r}"
    if not re.fullmatch(HOSTED_ZONE, zone):
        yield "hosted_zone_id", f"must be the ID of a hosted zone such as Z3M3LMPEXAMPLE, found {zone!r}"
