"""Check the instance types, regions and tags of a stack's resources."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from .values import GuardedResource, Violation, known_texts, violation

AWS_PROVIDER = "pulumi:providers:aws"
_TYPES = {
    "aws:eks/nodeGroup:NodeGroup": "instanceTypes",
    "aws:ec2/launchTemplate:LaunchTemplate": "instanceType",
    "aws:ec2/instance:Instance": "instanceType",
}
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""The label by which a Karpenter NodePool restricts instance types (Karpenter docs, "NodePools",
spec.template.spec.requirements)."""


def machine_types(subject: GuardedResource) -> Iterator[tuple[str, str]]:
    """Yield path and name of every instance type that a resource may start."""
    if subject.type in _TYPES:
        path = _TYPES[subject.type]
        yield from ((path, name) for name in subject.texts(path))
    if subject.type.startswith("kubernetes:karpenter.sh/") and subject.type.endswith(":NodePool"):
        path = "spec.template.spec.requirements"
        for rule in subject.at(path) or ():
            if isinstance(rule, Mapping) and (rule.get("key"), rule.get("operator")) == (_INSTANCE_TYPE, "In"):
                yield from ((path, name) for name in known_texts(rule.get("values")))


def forbidden_types(subject: GuardedResource, allowed: Sequence[str], denied: Sequence[str]) -> Iterator[Violation]:
    """Report instance types that the policy does not allow.

    Args:
        subject: Any resource.
        allowed: Patterns such as ``g6e.*``; one must match.
        denied: Patterns that must not match.
    """
    for path, name in machine_types(subject):
        step = "choose another instance type, or extend the policy"
        if not _fits(name, allowed):
            yield violation(subject, path, name, ", ".join(allowed) or "none", step)
        elif _fits(name, denied):
            yield violation(subject, path, name, f"anything but {', '.join(denied)}", step)


def forbidden_regions(subject: GuardedResource, allowed: Sequence[str]) -> Iterator[Violation]:
    """Report regions that the policy does not allow.

    Args:
        subject: Any resource; AWS providers are checked, and AWS resources with a ``region``, which pulumi-aws has
            since 7.0 (Pulumi Registry, AWS how-to guide "Enhanced Region Support").
        allowed: Patterns such as ``eu-*``.
    """
    if subject.type == AWS_PROVIDER or subject.type.startswith("aws:"):
        for region in subject.texts("region"):
            if not _fits(region, allowed):
                step = "set another region (inference-platform:region), or extend the policy"
                yield violation(subject, "region", region, ", ".join(allowed) or "none", step)


def missing_tags(subject: GuardedResource, required: Sequence[str], taggable: Sequence[str]) -> Iterator[Violation]:
    """Report an AWS resource that lacks required tags.

    Args:
        subject: Any resource; those that have tags, or whose type is taggable, are checked.
        required: Names of tags.
        taggable: Resource types that support tags.
    """
    tags = subject.at("tags")
    if not (isinstance(tags, Mapping) or (tags is None and subject.type in taggable)):
        return
    default_tags = subject.provider.get("defaultTags")
    if isinstance(default_tags, str):
        # SDKs encode provider properties other than strings as JSON (pulumi/pulumi#5306); that of Python by
        # pulumi.runtime.to_json in provider.py of pulumi_aws.
        try:
            default_tags = json.loads(default_tags)
        except ValueError:
            default_tags = None
    provider_tags = default_tags.get("tags") if isinstance(default_tags, Mapping) else None
    all_tags = {**(provider_tags if isinstance(provider_tags, Mapping) else {}), **(tags or {})}
    missing = [name for name in required if not all_tags.get(name)]
    if missing and subject.type.startswith("aws:"):
        step = f"add {', '.join(missing)} to inference-platform:tags, or to the tags of the resource"
        yield violation(subject, "tags", sorted(all_tags), f"with {', '.join(required)}", step)


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
