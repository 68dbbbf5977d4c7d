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
"""A policy document, as IAM reads it in JSON."""

TRUST_MAX = 2048
"""Characters of a role's trust policy; a quota, which AWS raises to 4096 on request."""
OIDC_PROVIDER = r"^arn:aws[a-z-]*:iam::[0-9]{12}:oidc-provider/[a-z0-9.-]+/id/[A-Z0-9]+$"
"""ARN of the IAM OIDC provider of an EKS cluster."""
DNS_CHALLENGES = "cert-manager"
"""Who answers the DNS-01 challenges of certificates: controller, chart and service account have this name."""
INLINE_MAX = 10240
"""Characters of all inline policies of a role."""
_VERSION = "2012-10-17"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_WIDENS = re.compile(r"[*?]|\$\{")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; all of them allow.

    Attributes:
        conditions: Values by condition key by operator, a single value or several.
    """

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, str | Sequence[str]]] = field(default_factory=dict)
    sid: str = ""

    def document(self) -> Document:
        """Return the statement as IAM reads it."""
        written: Document = {"Effect": "Allow", "Action": list(self.actions), "Resource": list(self.resources)}
        if self.conditions:
            written["Condition"] = self.conditions
        return {"Sid": self.sid, **written} if self.sid else written


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with placeholders, ``${name}``."""

    name: str
    source: str
    statements: tuple[Statement, ...]

    def document(self) -> Document:
        """Return the policy as IAM reads it, placeholders included."""
        return {"Version": _VERSION, "Statement": [statement.document() for statement in self.statements]}


@dataclass(frozen=True, slots=True)
class Controller:
    """Who gets permissions in a cluster.

    Attributes:
        policy: Policy of this catalog; empty where AWS manages one.
        managed: Policies that AWS manages, after ``arn:<partition>:iam::aws:policy/``.
    """

    service_account: str
    policy: str = ""
    managed: tuple[str, ...] = ()
    namespace: str = "kube-system"


@functools.cache
def controllers() -> Mapping[str, Controller]:
    """Return the controllers by name, under the service accounts that their charts and add-ons use."""
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
    found = sorted(path.name for path in files(__package__).joinpath("iam").iterdir())
    names = [name.removesuffix(".yaml") for name in found]
    return MappingProxyType({name: _read(name, load_table(__package__, "iam", f"{name}.yaml")) for name in names})


def placeholders(name: str) -> frozenset[str]:
    """Return the values that a policy needs."""
    found: set[str] = set()
    _each_text(policies()[name].document(), lambda text: _note(text, found))
    return frozenset(found)


def policy(name: str, **values: str) -> Document:
    """Return a policy document with its placeholders filled in.

    Raises:
        KeyError: there is no policy of this name.
        ValueError: a value is missing, unknown, empty, or would match more than it names.
    """
    needed = placeholders(name)
    problems = [f"{key} is missing" for key in sorted(needed - values.keys())]
    problems += [
        f"{key} is unknown; allowed are {', '.join(sorted(needed))}" for key in sorted(values.keys() - needed)
    ]
    problems += [
        f"{key} is {value!r}, which matches more than one thing" for key, value in values.items() if _widens(value)
    ]
    if problems:
        raise ValueError(f"policy {name}: {'; '.join(problems)}")
    filled: Document = _each_text(policies()[name].document(), lambda text: Template(text).substitute(values))
    return filled


def model_loader(locations: Iterable[str], partition: str) -> Document:
    """Return the policy that reads the models in ``bucket`` or ``bucket/prefix``, and nothing else.

    A prefix is S3's: ``models/llama`` is also the start of ``models/llama-2``; end it in ``/`` to name a folder.

    Raises:
        ValueError: a location is none.
    """
    documents = [_location_policy(location, partition) for location in locations]
    return {"Version": _VERSION, "Statement": [one for document in documents for one in document["Statement"]]}


def location_problem(location: str) -> str | None:
    """Say what is wrong with the place of models, None if nothing is."""
    bucket, _, prefix = location.partition("/")
    if not _BUCKET.fullmatch(bucket):
        return (
            "must be bucket or bucket/prefix, without s3:// and with a valid lower-case bucket name, found "
            f"{location!r}"
        )
    if _WIDENS.search(prefix):
        return f"found {location!r}; a prefix must not contain a wildcard, because one is appended"
    return None


def pod_identity_trust(cluster: str, service_accounts: Iterable[tuple[str, str]]) -> Document:
    """Return who may assume a role: pods of these (namespace, name) service accounts in this cluster.

    EKS Pod Identity tags the session with all three, so that an association made elsewhere in the account, by
    mistake or malice, does not get the role (EKS User Guide, pod-id-role and pod-id-abac).
    """
    by_namespace: dict[str, list[str]] = {}
    for namespace, name in service_accounts:
        by_namespace.setdefault(namespace, []).append(name)
    return {
        "Version": _VERSION,
        "Statement": [_trust_statement(cluster, namespace, names) for namespace, names in by_namespace.items()],
    }


def web_identity_trust(provider_arn: str, service_accounts: Iterable[tuple[str, str]]) -> Document:
    """Return who may assume a role where a cluster has no Pod Identity: the same pods, known by their tokens.

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
    """Say what is wrong with the ARN of a cluster's OIDC provider, None if nothing is."""
    if re.fullmatch(OIDC_PROVIDER, arn):
        return None
    return (
        "must be the ARN of the cluster's IAM OIDC provider, such as arn:aws:iam::123456789012:oidc-provider/"
        f"oidc.eks.us-east-1.amazonaws.com/id/0123456789ABCDEF, found {arn!r}"
    )


def _trust_statement(cluster: str, namespace: str, names: Sequence[str]) -> Document:
    return {
        "Effect": "Allow",
        "Principal": {"Service": "pods.eks.amazonaws.com"},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
        "Condition": {
            "StringEquals": {
                "aws:RequestTag/eks-cluster-name": cluster,
                "aws:RequestTag/kubernetes-namespace": namespace,
                "aws:RequestTag/kubernetes-service-account": list(names),
            }
        },
    }


def _location_policy(location: str, partition: str) -> Document:
    problem = location_problem(location)
    if problem:
        raise ValueError(problem)
    bucket, _, prefix = location.partition("/")
    if prefix:
        return policy("model-loader-prefix", partition=partition, bucket=bucket, prefix=prefix)
    return policy("model-loader-bucket", partition=partition, bucket=bucket)


def _read(name: str, loaded: dict[str, Any]) -> Policy:
    rows = loaded["statements"]
    statements = [{**row, "actions": tuple(row["actions"]), "resources": tuple(row["resources"])} for row in rows]
    return Policy(name, loaded["source"], tuple(Statement(**row) for row in statements))


def _widens(value: str) -> bool:
    return not value or _WIDENS.search(value) is not None


def _note(text: str, found: set[str]) -> str:
    found.update(Template(text).get_identifiers())
    return text


def _each_text(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  JSON in, JSON out
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(key): _each_text(inner, change) for key, inner in value.items()}
    return [_each_text(inner, change) for inner in value]
