"""What AWS would answer, as far as components read it."""

from typing import Any

from pulumi.runtime import mocks

from tests.recorded import Echo

_ACCOUNT = "123456789012"


class Planned(Echo):
    """What a preview knows of AWS: inputs, but no ID of anything that is still to be made."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        return "" if args.typ.startswith("aws:") else id_, outputs


class Aws(Echo):
    """Outputs are the inputs, and what the provider adds for the types that our components read."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        id_, outputs = super().new_resource(args)
        name = outputs.get("name") or args.name
        service = args.typ.split("/")[0].removeprefix("aws:")
        added: dict[str, Any] = {"arn": f"arn:aws:{service}::{_ACCOUNT}:{args.name}", "name": name}
        if args.typ == "aws:eks/cluster:Cluster":
            config = {**outputs.get("vpcConfig", {}), "clusterSecurityGroupId": "sg-cluster"}
            added |= {"endpoint": "https://api", "certificateAuthority": {"data": "Q0E="}, "vpcConfig": config}
        if args.typ == "aws:eks/nodeGroup:NodeGroup":
            added["resources"] = [{"autoscalingGroups": [{"name": f"asg-{args.name}"}]}]
        if args.typ == "aws:ec2/launchTemplate:LaunchTemplate":
            added["latestVersion"] = 1
        if args.typ == "aws:ec2/vpc:Vpc":
            added |= {"ownerId": _ACCOUNT, "ipv6CidrBlock": "2600:1f18:4d9f:7c00::/56"}
        if args.typ == "aws:fsx/lustreFileSystem:LustreFileSystem":
            added |= {"dnsName": "fs-0.fsx.amazonaws.com", "mountName": "abcdefgh"}
        if args.typ == "aws:sqs/queue:Queue":
            added["url"] = f"https://sqs/{name}"
        return id_, {**added, **outputs, **({"vpcConfig": added["vpcConfig"]} if "vpcConfig" in added else {})}
