"""AWS permissions of service accounts in one EKS cluster, by EKS Pod Identity or, without it, by their tokens (IRSA).

Identities
├── per controller
│   ├── iam.Role                     <name>-<controller>
│   ├── iam.RolePolicy or            <name>-<controller>
│   │   iam.RolePolicyAttachment     <name>-<controller>, for an AWS managed policy
│   └── eks.PodIdentityAssociation   <name>-<controller>
└── for the model loader, with model buckets
    ├── iam.Role, iam.RolePolicy     <name>-model-loader
    └── eks.PodIdentityAssociation   <name>-model-loader-<namespace>.<service account>

Without Pod Identity there are no associations; annotations of the service accounts name their roles.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

import pulumi
from pulumi_aws import eks, iam

from ...clouds.aws.facts.iam import (
    DNS_CHALLENGES,
    TRUST_MAX,
    Document,
    controllers,
    location_problem,
    model_loader,
    placeholders,
    pod_identity_trust,
    policy,
    provider_problem,
    web_identity_trust,
)
from ...clouds.aws.names import HOSTED_ZONE
from ...contract.names import is_dns1123_label, is_dns1123_subdomain
from ..serving.arguments import checked_args
from ..serving.objects import token
from .args import IdentitiesArgs
from .argument_problems import Problems, boundary_problems, place_problems, repeated
from .parts.common import managed_policy, named, partition

MODEL_LOADER = "model-loader"
_ROLE_NAME_MAX = 64
_DIGEST = 8


class Identities(pulumi.ComponentResource):
    """Grants AWS permissions to service accounts: a role, its permissions, and a Pod Identity association for each.

    Does not create the service accounts, the controllers or the add-on eks-pod-identity-agent.
    """

    role_arns: pulumi.Output[dict[str, str]]
    """ARNs of the roles by controller; that of the model loader is model-loader."""

    def __init__(self, name: str, args: IdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create roles, policies and associations.

        Raises:
            InvalidArguments: the arguments contradict each other or AWS; every problem is listed.
        """
        args = checked_args(name, args, IdentitiesArgs, _problems)
        super().__init__(token("Identities"), name, {}, opts)
        self._args = args
        self.associations: dict[str, list[eks.PodIdentityAssociation]] = {}
        roles = {}
        for key in args.get("controllers", []):
            controller = controllers()[key]
            account = (controller.namespace, controller.service_account)
            document = self._policy(controller.policy) if controller.policy else None
            roles[key] = self._grant(key, {key: account}, controller.managed, document)
        if args.get("model_buckets"):
            accounts = [_account(text) for text in args["model_service_accounts"]]
            by_name = {f"{MODEL_LOADER}-{'.'.join(account)}": account for account in accounts}
            document = json.dumps(model_loader(args["model_buckets"], partition(args["region"])))
            roles[MODEL_LOADER] = self._grant(MODEL_LOADER, by_name, (), document)
        self.role_arns = pulumi.Output.all(**{key: role.arn for key, role in roles.items()}).apply(dict)
        self.register_outputs({"roleArns": self.role_arns})

    def _grant(
        self,
        key: str,
        accounts: Mapping[str, tuple[str, str]],
        managed: Sequence[str],
        document: pulumi.Input[str] | None,
    ) -> iam.Role:
        """Create a role with its permissions, and associate service accounts with it.

        Args:
            key: Suffix of logical names.
            accounts: Namespace and name of service accounts, by the suffix of their association.
            managed: Names of AWS managed policies.
            document: Inline policy.
        """
        args, child = self._args, pulumi.ResourceOptions(parent=self)
        cluster, tags = args["cluster_plain_name"], args.get("tags", {})
        logical = f"{self.pulumi_resource_name}-{key}"
        name = role_name(cluster, args["region"], key)
        role = iam.Role(
            logical,
            name=name,
            description=f"{key} in the EKS cluster {cluster}",
            assume_role_policy=json.dumps(_trust(args, list(accounts.values()))),
            permissions_boundary=args.get("permissions_boundary_arn"),
            tags=named(name, tags),
            opts=child,
        )
        granted: list[pulumi.Resource] = [
            iam.RolePolicyAttachment(
                logical, role=role.name, policy_arn=managed_policy(policy, args["region"]), opts=child
            )
            for policy in managed
        ]
        if document is not None:
            granted.append(iam.RolePolicy(logical, role=role.name, policy=document, opts=child))
        self.associations[key] = []
        for suffix, (namespace, service_account) in () if "oidc_provider_arn" in args else accounts.items():
            association = f"{self.pulumi_resource_name}-{suffix}"
            self.associations[key].append(
                eks.PodIdentityAssociation(
                    association,
                    cluster_name=args["cluster_name"],
                    namespace=namespace,
                    service_account=service_account,
                    role_arn=role.arn,
                    tags=named(association, tags),
                    # A pod that starts before its role has permissions fails, in some controllers for good.
                    opts=pulumi.ResourceOptions(parent=self, depends_on=granted),
                )
            )
        return role

    def _policy(self, name: str) -> pulumi.Input[str]:
        region = self._args["region"]
        known: dict[str, pulumi.Input[str]] = {
            "cluster": self._args["cluster_plain_name"],
            "partition": partition(region),
            "region": region,
        }
        if "karpenter" in self._args.get("controllers", []):
            known["node_role_arn"] = self._args["node_role_arn"]
            known["queue_arn"] = self._args["interruption_queue_arn"]
        if DNS_CHALLENGES in self._args.get("controllers", []):
            known["zone"], known["host"] = self._args["hosted_zone_id"], self._args["host"]
        values = {key: known[key] for key in placeholders(name)}
        return pulumi.Output.all(**values).apply(lambda resolved: json.dumps(policy(name, **resolved)))


def role_name(cluster: str, region: str, key: str) -> str:
    """Return the name of a role, at most 64 characters.

    Contains the region: roles belong to the account, so those of two clusters of the same name would collide.
    """
    name = f"{cluster}-{region}-{key}"
    if len(name) <= _ROLE_NAME_MAX:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{name[: _ROLE_NAME_MAX - _DIGEST - 1]}-{digest}"


def _trust(args: IdentitiesArgs, accounts: Sequence[tuple[str, str]]) -> Document:
    if "oidc_provider_arn" in args:
        return web_identity_trust(args["oidc_provider_arn"], accounts)
    return pod_identity_trust(args.get("cluster_plain_name", ""), accounts)


def _account(text: str) -> tuple[str, str]:
    namespace, _, name = text.partition("/")
    return namespace, name


def _problems(args: IdentitiesArgs) -> Problems:
    cluster, reference = args.get("cluster_plain_name", ""), args.get("cluster_name")
    yield from place_problems("cluster_plain_name", cluster, args.get("region", ""))
    if reference is None:
        yield "cluster_name", "is required; pass the name of the EKS cluster, preferably as an output of the cluster"
    if isinstance(reference, str) and reference != cluster:
        yield (
            "cluster_name",
            f"found {reference!r}, but cluster_plain_name is {cluster!r}; both must name the same cluster",
        )
    problem = provider_problem(args["oidc_provider_arn"]) if "oidc_provider_arn" in args else None
    if problem:
        yield "oidc_provider_arn", problem
    yield from boundary_problems(args)
    yield from _controller_problems(args)
    yield from _model_problems(args)


def _controller_problems(args: IdentitiesArgs) -> Problems:
    requested = args.get("controllers", [])
    for key in dict.fromkeys(requested):
        if key not in controllers():
            yield "controllers", f"unknown controller {key!r}; known controllers: {', '.join(controllers())}"
    yield from repeated("controllers", requested)
    if "karpenter" in requested:
        if args.get("node_role_arn") is None:
            yield (
                "node_role_arn",
                "is required with karpenter, which may pass only this role to its nodes",
            )
        if args.get("interruption_queue_arn") is None:
            yield (
                "interruption_queue_arn",
                "is required with karpenter, which reads interruption notices from this queue",
            )
    if DNS_CHALLENGES in requested:
        zone, host = args.get("hosted_zone_id", ""), args.get("host", "")
        if not re.fullmatch(HOSTED_ZONE, zone):
            yield "hosted_zone_id", f"must be the ID of a hosted zone such as Z3M3LMPEXAMPLE, found {zone!r}"
        if not is_dns1123_subdomain(host):
            yield "host", f"must be the DNS name of the certificates, found {host!r}"


def _model_problems(args: IdentitiesArgs) -> Problems:
    buckets, accounts = args.get("model_buckets", []), args.get("model_service_accounts", [])
    if accounts and not buckets:
        yield "model_buckets", "is required with model_service_accounts; list the buckets that they may read"
    if buckets and not accounts:
        yield (
            "model_service_accounts",
            "is required with model_buckets; list the service accounts that may read them, as namespace/name",
        )
    for location in dict.fromkeys(buckets):
        problem = location_problem(location)
        if problem:
            yield "model_buckets", problem
    yield from repeated("model_buckets", buckets)
    yield from repeated("model_service_accounts", accounts)
    owners = {
        f"{controller.namespace}/{controller.service_account}": key for key, controller in controllers().items()
    }
    for text in dict.fromkeys(accounts):
        namespace, name = _account(text)
        if not (is_dns1123_label(namespace) and is_dns1123_subdomain(name)):
            yield "model_service_accounts", f"found {text!r}; write namespace/name, both valid Kubernetes names"
        elif owners.get(text) in args.get("controllers", []):
            yield (
                "model_service_accounts",
                f"found {text!r}, which belongs to {owners[text]}; EKS allows one role per service account",
            )
    # IAM does not count white space.
    trust = json.dumps(_trust(args, [_account(text) for text in accounts]), separators=(",", ":"))
    if len(trust) > TRUST_MAX:
        yield (
            "model_service_accounts",
            f"found {len(accounts)}, whose trust policy has {len(trust)} characters, but IAM allows {TRUST_MAX}; "
            "share service accounts, or create another Identities component",
        )
