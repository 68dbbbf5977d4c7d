"""AWS permissions for service accounts of one EKS cluster, by EKS Pod Identity, or by their tokens (IRSA) without it.

Identities
├── per controller
│   ├── iam.Role                     <name>-<controller>
│   ├── iam.RolePolicy or            <name>-<controller>
│   │   iam.RolePolicyAttachment     <name>-<controller>, with a policy that AWS manages
│   └── eks.PodIdentityAssociation   <name>-<controller>
└── for the model loader, where there are model buckets
    ├── iam.Role, iam.RolePolicy     <name>-model-loader
    └── eks.PodIdentityAssociation   <name>-model-loader-<namespace>.<service account>, each

Without Pod Identity there are no associations: service accounts name their roles themselves.
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
    Controller,
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
from .argument_problems import Problems, place_problems, repeated
from .parts.roles import managed_policy, named, partition

MODEL_LOADER = "model-loader"
_ROLE_NAME_MAX = 64
_DIGEST = 8


class Identities(pulumi.ComponentResource):
    """Gives service accounts the AWS permissions that they need: a role, a policy and an association each.

    Does not create the service accounts, the controllers or the eks-pod-identity-agent add-on.
    """

    role_arns: pulumi.Output[dict[str, str]]
    """Role by controller, and of the model loader by that name."""

    def __init__(self, name: str, args: IdentitiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register roles, policies and associations.

        Raises:
            InvalidArguments: the arguments contradict each other or AWS; every problem is listed.
        """
        args = checked_args(name, args, IdentitiesArgs, _problems)
        super().__init__(token("Identities"), name, {}, opts)
        self._args = args
        self.associations: dict[str, list[eks.PodIdentityAssociation]] = {}
        roles = {key: self._controller(key, controllers()[key]) for key in args.get("controllers", [])}
        if args.get("model_buckets"):
            roles[MODEL_LOADER] = self._model_loader()
        self.role_arns = pulumi.Output.all(**{key: role.arn for key, role in roles.items()}).apply(dict)
        self.register_outputs({"roleArns": self.role_arns})

    def _controller(self, key: str, controller: Controller) -> iam.Role:
        account = (controller.namespace, controller.service_account)
        role = self._role(key, [account])
        granted: list[pulumi.Resource] = [self._managed(key, role, one) for one in controller.managed]
        if controller.policy:
            granted.append(self._inline(key, role, self._policy(controller.policy)))
        self.associations[key] = self._associations({key: account}, role, granted)
        return role

    def _model_loader(self) -> iam.Role:
        accounts = [_account(text) for text in self._args["model_service_accounts"]]
        role = self._role(MODEL_LOADER, accounts)
        document = model_loader(self._args["model_buckets"], partition(self._args["region"]))
        granted = [self._inline(MODEL_LOADER, role, json.dumps(document))]
        named_accounts = {f"{MODEL_LOADER}-{'.'.join(account)}": account for account in accounts}
        self.associations[MODEL_LOADER] = self._associations(named_accounts, role, granted)
        return role

    def _role(self, key: str, accounts: Sequence[tuple[str, str]]) -> iam.Role:
        cluster = self._args["cluster_plain_name"]
        name = role_name(cluster, self._args["region"], key)
        return iam.Role(
            self._called(key),
            name=name,
            description=f"{key} in the EKS cluster {cluster}",
            assume_role_policy=json.dumps(_trust(self._args, accounts)),
            tags=named(name, self._args.get("tags", {})),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _inline(self, key: str, role: iam.Role, document: pulumi.Input[str]) -> iam.RolePolicy:
        return iam.RolePolicy(
            self._called(key), role=role.name, policy=document, opts=pulumi.ResourceOptions(parent=self)
        )

    def _managed(self, key: str, role: iam.Role, managed: str) -> iam.RolePolicyAttachment:
        return iam.RolePolicyAttachment(
            self._called(key),
            role=role.name,
            policy_arn=managed_policy(managed, self._args["region"]),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _associations(
        self, accounts: Mapping[str, tuple[str, str]], role: iam.Role, granted: Sequence[pulumi.Resource]
    ) -> list[eks.PodIdentityAssociation]:
        if "oidc_provider_arn" in self._args:
            return []
        return [self._association(key, role, account, granted) for key, account in accounts.items()]

    def _association(
        self, key: str, role: iam.Role, account: tuple[str, str], granted: Sequence[pulumi.Resource]
    ) -> eks.PodIdentityAssociation:
        namespace, service_account = account
        return eks.PodIdentityAssociation(
            self._called(key),
            cluster_name=self._args["cluster_name"],
            namespace=namespace,
            service_account=service_account,
            role_arn=role.arn,
            tags=named(self._called(key), self._args.get("tags", {})),
            # A pod that starts with a role that may do nothing yet gives up, some for good.
            opts=pulumi.ResourceOptions(parent=self, depends_on=list(granted)),
        )

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
        return pulumi.Output.all(**values).apply(lambda plain: json.dumps(policy(name, **plain)))

    def _called(self, key: str) -> str:
        return f"{self.pulumi_resource_name}-{key}"


def role_name(cluster: str, region: str, key: str) -> str:
    """Return the name of a role, at most 64 characters.

    Roles belong to the account, clusters to a region: without the region, two clusters of one name would collide.
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
    plain, given = args.get("cluster_plain_name", ""), args.get("cluster_name")
    yield from place_problems("cluster_plain_name", plain, args.get("region", ""))
    if given is None:
        yield "cluster_name", "is missing; pass the name of the EKS cluster, preferably as an output of the cluster"
    if isinstance(given, str) and given != plain:
        yield "cluster_name", f"found {given!r}, but cluster_plain_name is {plain!r}; both must name the same cluster"
    problem = provider_problem(args["oidc_provider_arn"]) if "oidc_provider_arn" in args else None
    if problem:
        yield "oidc_provider_arn", problem
    yield from _controller_problems(args)
    yield from _model_problems(args)


def _controller_problems(args: IdentitiesArgs) -> Problems:
    wanted = args.get("controllers", [])
    for key in dict.fromkeys(wanted):
        if key not in controllers():
            yield "controllers", f"unknown controller {key!r}; known controllers: {', '.join(controllers())}"
    yield from repeated("controllers", wanted)
    if "karpenter" in wanted:
        if args.get("node_role_arn") is None:
            yield (
                "node_role_arn",
                "is missing; karpenter passes this role to its nodes and is allowed to pass no other",
            )
        if args.get("interruption_queue_arn") is None:
            yield "interruption_queue_arn", "is missing; karpenter reads interruption notices from this queue"
    if DNS_CHALLENGES in wanted:
        zone, host = args.get("hosted_zone_id", ""), args.get("host", "")
        if not re.fullmatch(HOSTED_ZONE, zone):
            yield "hosted_zone_id", f"must be the ID of a hosted zone such as Z0123456789ABCDEFGHIJ, found {zone!r}"
        if not is_dns1123_subdomain(host):
            yield "host", f"must be the DNS name of the certificates, found {host!r}"


def _model_problems(args: IdentitiesArgs) -> Problems:
    buckets, accounts = args.get("model_buckets", []), args.get("model_service_accounts", [])
    if accounts and not buckets:
        yield "model_buckets", "is missing; name the buckets that model_service_accounts may read"
    if buckets and not accounts:
        yield (
            "model_service_accounts",
            "is missing; name the service accounts that may read model_buckets, as namespace/name",
        )
    for location in dict.fromkeys(buckets):
        problem = location_problem(location)
        if problem:
            yield "model_buckets", problem
    yield from repeated("model_buckets", buckets)
    yield from repeated("model_service_accounts", accounts)
    yield from _account_problems(args, accounts)


def _account_problems(args: IdentitiesArgs, accounts: Sequence[str]) -> Problems:
    taken = {f"{one.namespace}/{one.service_account}": key for key, one in controllers().items()}
    for text in dict.fromkeys(accounts):
        namespace, name = _account(text)
        if not (is_dns1123_label(namespace) and is_dns1123_subdomain(name)):
            yield "model_service_accounts", f"found {text!r}; write namespace/name, both valid Kubernetes names"
        elif taken.get(text) in args.get("controllers", []):
            yield (
                "model_service_accounts",
                f"found {text!r}, which belongs to {taken[text]}; EKS allows one role per service account",
            )
    trust = _trust(args, [_account(text) for text in accounts])
    if _length(trust) > TRUST_MAX:
        yield (
            "model_service_accounts",
            f"found {len(accounts)}, whose trust policy has {_length(trust)} characters, but IAM allows "
            f"{TRUST_MAX}; share service accounts, or create another Identities component",
        )


def _length(document: Document) -> int:
    """Return the length that IAM counts, which is without white space."""
    return len(json.dumps(document, separators=(",", ":")))
