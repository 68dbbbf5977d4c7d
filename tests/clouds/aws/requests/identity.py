"""The requests of IAM and KMS."""

from collections.abc import Mapping
from typing import Any

from tests.clouds.aws.models.documented import choice_problems
from tests.clouds.aws.models.policies import (
    IDENTITY,
    LONGEST_INLINE,
    LONGEST_MANAGED,
    LONGEST_TRUST,
    RESOURCE,
    TRUST,
    policy_problems,
)
from tests.clouds.aws.requests.plan import (
    From,
    Given,
    Lookup,
    Plan,
    Planner,
    Request,
    Text,
    key_values,
    known,
    listed,
    lookup,
    within,
)


def _iam(operation: str, **params: Any) -> Request:
    return Request("iam", operation, params)


def role_exists(arn: Any) -> list[Lookup]:
    """Return how to find a role by its ARN."""
    return [lookup("iam", "GetRole", "Role", RoleName=arn.rpartition("/")[2])] if isinstance(arn, str) else []


def _tags(given: Given) -> dict[str, Any]:
    return {"Tags": key_values(given.get("tags"))} if "tags" in given else {}


def role(given: Given) -> Plan:
    name, trust = given.name(), given.get("assumeRolePolicy")
    inline = given.blocks("inlinePolicies", lambda block: block.members(PolicyName="name", PolicyDocument="policy"))
    attached = given.get("managedPolicyArns", [])
    given.no_request("forceDetachPolicies")
    return Plan(
        create=_iam(
            "CreateRole",
            RoleName=name,
            AssumeRolePolicyDocument=trust,
            **given.members(
                Description="description",
                Path="path",
                MaxSessionDuration="maxSessionDuration",
                PermissionsBoundary="permissionsBoundary",
            ),
            **_tags(given),
        ),
        then=[
            *(_iam("PutRolePolicy", RoleName=name, **policy) for policy in listed(inline, dict)),
            *(_iam("AttachRolePolicy", RoleName=name, PolicyArn=arn) for arn in listed(attached)),
        ],
        id=name,
        outputs={"name": name, "arn": From("Role.Arn"), "uniqueId": From("Role.RoleId")},
        find=lookup("iam", "GetRole", "Role", RoleName=name),
        delete=[
            *(_iam("DetachRolePolicy", RoleName=name, PolicyArn=arn) for arn in listed(attached)),
            *(
                _iam("DeleteRolePolicy", RoleName=name, PolicyName=policy.get("PolicyName"))
                for policy in listed(inline, dict)
            ),
            _iam("DeleteRole", RoleName=name),
        ],
        problems=_role_problems(trust, inline),
    )


def _role_problems(trust: Any, inline: Any) -> list[str]:
    documents = [policy.get("PolicyDocument") for policy in listed(inline, dict)]
    found = [problem for document in documents for problem in policy_problems(IDENTITY, document, LONGEST_INLINE)]
    return [*policy_problems(TRUST, trust, LONGEST_TRUST), *found]


def policy(given: Given) -> Plan:
    made = From("Policy.Arn")
    name, document = given.name(), given.get("policy")
    given.no_request("delayAfterPolicyCreationInMs")
    return Plan(
        create=_iam(
            "CreatePolicy",
            PolicyName=name,
            PolicyDocument=document,
            **given.members(Description="description", Path="path"),
            **_tags(given),
        ),
        id=made,
        outputs={"arn": made, "name": name, "policyId": From("Policy.PolicyId")},
        find=lookup("iam", "GetPolicy", "Policy", PolicyArn=made),
        delete=[_iam("DeletePolicy", PolicyArn=made)],
        problems=policy_problems(IDENTITY, document, LONGEST_MANAGED),
    )


def role_policy(given: Given) -> Plan:
    (role,) = given.id("role")
    name, document = given.name(), given.get("policy")
    which = {"RoleName": role, "PolicyName": name}
    return Plan(
        create=_iam("PutRolePolicy", **which, PolicyDocument=document),
        id=f"{role}:{name}",
        outputs={"name": name},
        find=lookup("iam", "GetRolePolicy", "PolicyName", **which),
        delete=[_iam("DeleteRolePolicy", **which)],
        problems=policy_problems(IDENTITY, document, LONGEST_INLINE),
    )


def role_policy_attachment(given: Given) -> Plan:
    role, arn = given.id("role", "policyArn")
    which = {"RoleName": role, "PolicyArn": arn}
    return Plan(
        create=_iam("AttachRolePolicy", **which),
        id=f"{role}/{arn}",
        find=lookup("iam", "ListAttachedRolePolicies", f"AttachedPolicies[?PolicyArn=='{arn}']", RoleName=role),
        delete=[_iam("DetachRolePolicy", **which)],
        needs=[lookup("iam", "GetPolicy", "Policy", PolicyArn=arn)],
    )


def _kms(operation: str, **params: Any) -> Request:
    return Request("kms", operation, params)


def key(given: Given) -> Plan:
    made = From("KeyMetadata.KeyId")
    document, rotates, window = given.get("policy"), given.get("enableKeyRotation"), given.get("deletionWindowInDays")
    tags = given.get("tags")
    period = given.members(RotationPeriodInDays="rotationPeriodInDays")
    enabled = given.get("isEnabled", True)
    problems = policy_problems(RESOURCE, document)
    if not within(7, window, 30):
        problems.append(f"deletion window: found {window}, allowed are 7 to 30 days")
    problems += choice_problems("rotation", rotates, (True, False))
    if period and known(rotates) and not rotates:
        problems.append("a rotation period wants rotation to be enabled")
    return Plan(
        create=_kms(
            "CreateKey",
            **({"Policy": document} if document is not None else {}),
            **given.members(
                Description="description",
                KeyUsage="keyUsage",
                KeySpec="customerMasterKeySpec",
                MultiRegion="multiRegion",
                BypassPolicyLockoutSafetyCheck="bypassPolicyLockoutSafetyCheck",
            ),
            **({"Tags": _kms_tags(tags)} if tags else {}),
        ),
        then=[
            *([_kms("EnableKeyRotation", KeyId=made, **period)] if rotates else []),
            *([] if enabled else [_kms("DisableKey", KeyId=made)]),
        ],
        id=made,
        outputs={"arn": From("KeyMetadata.Arn"), "keyId": made},
        # A key cannot be deleted at once: it waits for its deletion.
        find=lookup("kms", "DescribeKey", "[KeyMetadata][?KeyState!='PendingDeletion']", KeyId=made),
        delete=[
            _kms("ScheduleKeyDeletion", KeyId=made, **({} if window is None else {"PendingWindowInDays": window}))
        ],
        problems=problems,
    )


def _kms_tags(tags: Any) -> Any:
    return [{"TagKey": name, "TagValue": value} for name, value in tags.items()] if isinstance(tags, dict) else tags


def alias(given: Given) -> Plan:
    given_name, (target,) = given.name(), given.id("targetKeyId")
    # The provider puts the prefix in front of a name that it makes, and AWS refuses one without.
    name = given_name if "name" in given or not known(given_name) else f"alias/{given_name}"
    reserved = isinstance(name, str) and (not name.startswith("alias/") or name.startswith("alias/aws/"))
    return Plan(
        create=_kms("CreateAlias", AliasName=name, TargetKeyId=target),
        id=name,
        outputs={
            "name": name,
            "arn": Text("arn:{partition}:kms:{region}:{account}:{id}"),
            "targetKeyArn": Text(f"arn:{{partition}}:kms:{{region}}:{{account}}:key/{target}"),
        },
        find=lookup("kms", "ListAliases", f"Aliases[?AliasName=='{name}']"),
        delete=[_kms("DeleteAlias", AliasName=name)],
        problems=[f"alias: found {name!r}, allowed is alias/... but for alias/aws/..."] if reserved else [],
    )


def instance_profile(given: Given) -> Plan:
    name, role = given.name(), given.get("role")
    return Plan(
        create=_iam("CreateInstanceProfile", InstanceProfileName=name, **given.members(Path="path"), **_tags(given)),
        then=[_iam("AddRoleToInstanceProfile", InstanceProfileName=name, RoleName=role)] if role else [],
        id=name,
        outputs={"name": name, "arn": From("InstanceProfile.Arn")},
        find=lookup("iam", "GetInstanceProfile", "InstanceProfile", InstanceProfileName=name),
        delete=[
            *([_iam("RemoveRoleFromInstanceProfile", InstanceProfileName=name, RoleName=role)] if role else []),
            _iam("DeleteInstanceProfile", InstanceProfileName=name),
        ],
        needs=[lookup("iam", "GetRole", "Role", RoleName=role)] if role else [],
    )


KINDS: Mapping[str, Planner] = {
    "aws:iam/instanceProfile:InstanceProfile": instance_profile,
    "aws:iam/role:Role": role,
    "aws:iam/policy:Policy": policy,
    "aws:iam/rolePolicy:RolePolicy": role_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": role_policy_attachment,
    "aws:kms/key:Key": key,
    "aws:kms/alias:Alias": alias,
}
