"""The requests of security groups and their rules."""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import pattern_problems
from tests.clouds.aws.requests.network import OWNED, ec2_arn, find, groups_exist, request, tagged
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Plan,
    Planner,
    drop_empty,
    known,
    listed,
)

EVERYWHERE = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


def security_group(given: Given) -> Plan:
    made = From("GroupId")
    name, description = given.name(), given.get("description", "Managed by Pulumi")
    rules = {side: given.blocks(side, _inline_rule) for side in ("ingress", "egress")}
    given.no_request("revokeRulesOnDelete")
    return Plan(
        create=request(
            "CreateSecurityGroup",
            GroupName=name,
            Description=description,
            **given.members(VpcId="vpcId"),
            **tagged("security-group", given.get("tags")),
        ),
        then=[
            # AWS lets everything out of a new group; the provider takes that away.
            request("RevokeSecurityGroupEgress", GroupId=made, IpPermissions=[EVERYWHERE]),
            *(
                request(f"AuthorizeSecurityGroup{side.capitalize()}", GroupId=made, IpPermissions=permissions)
                for side, permissions in rules.items()
                if permissions
            ),
        ],
        id=made,
        outputs={"arn": ec2_arn("security-group"), "name": name, **OWNED},
        find=find("DescribeSecurityGroups", "SecurityGroups", GroupIds=[made]),
        delete=[request("DeleteSecurityGroup", GroupId=made)],
        problems=[
            *pattern_problems("security group name", name),
            *pattern_problems("security group description", description),
        ],
    )


def _inline_rule(given: Given) -> dict[str, Any]:
    about = given.members(Description="description")
    assert not given.get("self"), "a group that admits itself inline is not known here; use the resources for rules"
    return {
        **given.members(IpProtocol="protocol", FromPort="fromPort", ToPort="toPort"),
        **drop_empty(
            {
                "IpRanges": [{"CidrIp": item, **about} for item in listed(given.get("cidrBlocks"))],
                "Ipv6Ranges": [{"CidrIpv6": item, **about} for item in listed(given.get("ipv6CidrBlocks"))],
                "UserIdGroupPairs": [{"GroupId": item, **about} for item in listed(given.get("securityGroups"))],
            }
        ),
    }


def _security_group_rule(side: str) -> Planner:
    def rule(given: Given) -> Plan:
        made = From("SecurityGroupRules[0].SecurityGroupRuleId")
        (group,) = given.id("securityGroupId")
        about = given.members(Description="description")
        sources = {
            "IpRanges": given.members(CidrIp="cidrIpv4"),
            "Ipv6Ranges": given.members(CidrIpv6="cidrIpv6"),
            "PrefixListIds": given.members(PrefixListId="prefixListId"),
            "UserIdGroupPairs": given.members(GroupId="referencedSecurityGroupId"),
        }
        permission = {
            **given.members(IpProtocol="ipProtocol", FromPort="fromPort", ToPort="toPort"),
            **{kind: [{**source, **about}] for kind, source in sources.items() if source},
        }
        return Plan(
            create=request(
                f"AuthorizeSecurityGroup{side}",
                GroupId=group,
                IpPermissions=[permission],
                **tagged("security-group-rule", given.get("tags")),
            ),
            id=made,
            outputs={"arn": ec2_arn("security-group-rule"), "securityGroupRuleId": made},
            find=find("DescribeSecurityGroupRules", "SecurityGroupRules", SecurityGroupRuleIds=[made]),
            delete=[request(f"RevokeSecurityGroup{side}", GroupId=group, SecurityGroupRuleIds=[made])],
            needs=groups_exist(list(sources["UserIdGroupPairs"].values())),
            problems=_rule_problems(sources, permission),
        )

    return rule


def _rule_problems(sources: Mapping[str, Any], permission: Mapping[str, Any]) -> list[str]:
    protocol = permission.get("IpProtocol")
    ports = {"FromPort", "ToPort"} & permission.keys()
    found = []
    if sum(map(bool, sources.values())) != 1:
        found.append("a rule has exactly one source")
    if known(protocol) and protocol in ("tcp", "udp") and len(ports) < 2:
        found.append(f"protocol {protocol} wants fromPort and toPort")
    if protocol == "-1" and ports:
        found.append("a rule for all protocols has no ports")
    return found


KINDS: Mapping[str, Planner] = {
    "aws:ec2/securityGroup:SecurityGroup": security_group,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _security_group_rule("Ingress"),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _security_group_rule("Egress"),
}
