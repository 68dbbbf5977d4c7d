"""IAM policy documents: the permissions of each controller, with their source, in ``iam/<name>.yaml``."""

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from string import Template
from types import MappingProxyType
from typing import Any

from ....contract.tables import load_table
from .eks import addons

Document = dict[str, Any]
"""A policy document in the JSON format of IAM."""

TRUST_MAX = 2048
"""Maximum characters of a role's trust policy; a quota that AWS raises to 4096 on request."""
OIDC_PROVIDER = r"^arn:aws[a-z-]*:iam::[0-9]{12}:oidc-provider/[a-z0-9.-]+/id/[A-Z0-9]+$"
"""ARN of the IAM OIDC provider of an EKS cluster."""
DNS_CHALLENGES = "cert-manager"
"""Name of the controller that solves DNS-01 challenges, and of its chart and service account."""
INLINE_MAX = 10240
"""Maximum characters of all inline policies of a role."""
_VERSION = "2012-10-17"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_WIDENS = re.compile(r"[*?]|\$\{")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, with the effect ``Allow``.

    Attributes:
        conditions: One or several values by condition operator and key.
    """

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, str | Sequence[str]]] = field(default_factory=dict)
    sid: str = ""

    def document(self) -> Document:
        """Return the statement in the JSON format of IAM."""
        statement: Document = {"Effect": "Allow", "Action": list(self.actions), "Resource": list(self.resources)}
        if self.conditions:
            statement["Condition"] = self.conditions
        return {"Sid": self.sid, **statement} if self.sid else statement


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with placeholders, ``${name}``."""

    name: str
    source: str
    statements: tuple[Statement, ...]

    def document(self) -> Document:
        """Return the policy in the JSON format of IAM, with its placeholders."""
        return {"Version": _VERSION, "Statement": [statement.document() for statement in self.statements]}


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller in a cluster that needs permissions in AWS.

    Attributes:
        policy: Name of its policy in this catalog; empty for a policy that AWS manages.
        managed: Policies that AWS manages, after ``arn:<partition>:iam::aws:policy/``.
    """

    service_account: str
    policy: str = ""
    managed: tuple[str, ...] = ()
    namespace: str = "kube-system"


@functools.cache
def controllers() -> Mapping[str, Controller]:
    """Return the controllers by name, with the service accounts of their charts and add-ons."""
    ebs, efs = addons()["aws-ebs-csi-driver"], addons()["aws-efs-csi-driver"]
    return MappingProxyType(
        {
            "cluster-autoscaler": Controller("cluster-autoscaler", policy="cluster-autoscaler"),
            "karpenter": Controller("karpenter", policy="karpenter-controller"),
            "load-balancer-controller": Controller("aws-load-balancer-controller", policy="load-balancer-controller"),
            DNS_CHALLENGES: Controller(DNS_CHALLENGES, policy="cert-manager-dns01", namespace="cert-manager"),
            "ebs-csi": Controller(ebs.service_account, managed=ebs.policies),
            "efs-csi": Controller(efs.service_account, managed=efs.policies),
        }
    )


@functools.cache
def policies() -> Mapping[str, Policy]:
    """Return every policy by name."""
    file_names = sorted(path.name for path in files(__package__).joinpath("iam").iterdir())
    catalog: dict[str, Policy] = {}
    for file in file_names:
        name, table = file.removesuffix(".yaml"), load_table(__package__, "iam", file)
        rows = [
            {**row, "actions": tuple(row["actions"]), "resources": tuple(row["resources"])}
            for row in table["statements"]
        ]
        catalog[name] = Policy(name, table["source"], tuple(Statement(**row) for row in rows))
    return MappingProxyType(catalog)


def placeholders(name: str) -> frozenset[str]:
    """Return the values that a policy needs."""
    identifiers: set[str] = set()

    def collect(text: str) -> str:
        identifiers.update(Template(text).get_identifiers())
        return text

    _map_texts(policies()[name].document(), collect)
    return frozenset(identifiers)


def policy(name: str, **values: str) -> Document:
    """Return a policy document with its placeholders filled in.

    Raises:
        KeyError: There is no policy of this name.
        ValueError: A value is missing, unknown or empty, or contains a wildcard or variable.
    """
    needed = placeholders(name)
    problems = [f"{key} is missing" for key in sorted(needed - values.keys())]
    problems += [
        f"{key} is unknown; allowed are {', '.join(sorted(needed))}" for key in sorted(values.keys() - needed)
    ]
    problems += [
        f"{key} is {value!r}, which matches more than one thing"
        for key, value in values.items()
        if not value or _WIDENS.search(value)
    ]
    if problems:
        raise ValueError(f"policy {name}: {'; '.join(problems)}")
    filled: Document = _map_texts(policies()[name].document(), lambda text: Template(text).substitute(values))
    return filled


def model_loader(locations: Iterable[str], partition: str) -> Document:
    """Return the policy that allows reading models in ``bucket`` or ``bucket/prefix`` only.

    S3 compares prefixes as text: ``models/llama`` also matches ``models/llama-2``; end it in ``/`` for a folder.

    Raises:
        ValueError: A location is invalid.
    """
    statements: list[Document] = []
    for location in locations:
        problem = location_problem(location)
        if problem:
            raise ValueError(problem)
        bucket, _, prefix = location.partition("/")
        if prefix:
            document = policy("model-loader-prefix", partition=partition, bucket=bucket, prefix=prefix)
        else:
            document = policy("model-loader-bucket", partition=partition, bucket=bucket)
        statements += document["Statement"]
    return {"Version": _VERSION, "Statement": statements}


def location_problem(location: str) -> str | None:
    """Return why a location of models is invalid; None if it is valid."""
    bucket, _, prefix = location.partition("/")
    if not _BUCKET.fullmatch(bucket):
        return (
            "must be bucket or bucket/prefix, without s3:// and with a valid lower-case bucket name, found "
            f"{location!r}"
        )
    if _WIDENS.search(prefix):
        return f"found {location!r}; a prefix must not contain a wildcard, because one is appended"
    return None


def service_trust(
    service: str, actions: Sequence[str] = ("sts:AssumeRole",), conditions: Mapping[str, Any] | None = None
) -> Document:
    """Return the trust policy of a role that an AWS service assumes.

    Args:
        service: Principal, such as ``eks.amazonaws.com``.
        actions: Actions with which the service assumes the role.
        conditions: Conditions, as far as AWS documents that the service sends their keys.
    """
    statement: Document = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
    if conditions:
        statement["Condition"] = dict(conditions)
    return {"Version": _VERSION, "Statement": [statement]}


def cluster_trust(cluster: str, region: str, partition: str) -> Document:
    """Return the trust policy of the role of one cluster.

    Source: EKS user guide, "Cross-service confused deputy prevention in Amazon EKS", with a wildcard for the account,
    which is unknown at preview. A role can be passed only to clusters in its own account.
    """
    conditions = {"ArnLike": {"aws:SourceArn": f"arn:{partition}:eks:{region}:*:cluster/{cluster}"}}
    return service_trust("eks.amazonaws.com", ("sts:AssumeRole", "sts:TagSession"), conditions)


BOUNDARY = r"^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9+=,.@/_-]+$"
"""ARN of a policy that can be a permissions boundary."""


def boundary_problem(arn: str) -> str | None:
    """Return why an ARN cannot be a permissions boundary; None if it can."""
    if re.fullmatch(BOUNDARY, arn):
        return None
    return f"must be the ARN of an IAM policy, such as arn:aws:iam::123456789012:policy/boundary, found {arn!r}"


def pod_identity_trust(cluster: str, service_accounts: Iterable[tuple[str, str]]) -> Document:
    """Return the trust policy for pods of (namespace, name) service accounts in a cluster with EKS Pod Identity.

    Pod Identity tags the session with all three. The conditions on these tags exclude associations that are created
    elsewhere in the account (EKS User Guide, pod-id-role and pod-id-abac).
    """
    by_namespace: dict[str, list[str]] = {}
    for namespace, name in service_accounts:
        by_namespace.setdefault(namespace, []).append(name)
    return {
        "Version": _VERSION,
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "pods.eks.amazonaws.com"},
                "Action": ["sts:AssumeRole", "sts:TagSession"],
                "Condition": {
                    "StringEquals": {
                        "aws:RequestTag/eks-cluster-name": cluster,
                        "aws:RequestTag/kubernetes-namespace": namespace,
                        "aws:RequestTag/kubernetes-service-account": names,
                    }
                },
            }
            for namespace, names in by_namespace.items()
        ],
    }


def web_identity_trust(provider_arn: str, service_accounts: Iterable[tuple[str, str]]) -> Document:
    """Return the trust policy for the same pods in a cluster without Pod Identity, by their tokens.

    Source: EKS User Guide, "Assign IAM roles to Kubernetes service accounts".
    """
    issuer = provider_arn.partition("oidc-provider/")[2]
    subjects = [f"system:serviceaccount:{namespace}:{name}" for namespace, name in service_accounts]
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": provider_arn},
        "Action": ["sts:AssumeRoleWithWebIdentity"],
        "Condition": {"StringEquals": {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": subjects}},
    }
    return {"Version": _VERSION, "Statement": [statement]}


def provider_problem(arn: str) -> str | None:
    """Return why the ARN of a cluster's OIDC provider is invalid; None if it is valid."""
    if re.fullmatch(OIDC_PROVIDER, arn):
        return None
    return (
        "must be the ARN of the cluster's IAM OIDC provider, such as arn:aws:iam::123456789012:oidc-provider/"
        f"oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF, found {arn!r}"
    )


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  JSON in, JSON out
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): _map_texts(inner, change) for key, inner in value.items()}
    return [_map_texts(inner, change) for inner in value]
