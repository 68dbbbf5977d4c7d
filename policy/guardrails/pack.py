"""The pack: each policy hands what Pulumi is about to do to a check, as plain data.

A policy of single resources sees their inputs as they are about to be; a policy of the stack sees the outputs of all
of them, those of components and of the stack itself among them, in a preview too (pulumi/pulumi, pkg/resource/deploy/
step_generator.go, AnalyzeResources: "on the final outputs of each resource"; step_executor.go, which sets the outputs
that a program registers in either case). In a preview some values are unknown: checks skip those, and see them when
the stack is deployed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    PolicyPack,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from .access import open_balancers, open_clusters
from .budget import over_budget
from .nodes import forbidden_regions, forbidden_types, missing_tags
from .protection import unprotected
from .schemas import (
    BALANCERS,
    BUDGET,
    CLUSTER_ACCESS,
    INSTANCE_TYPES,
    PROTECTION,
    REGIONS,
    TAGS,
    Guardrail,
)
from .values import GuardedResource, Violation, plain

Settings = Mapping[str, Any]


def subject_of(found: ResourceValidationArgs | PolicyResource) -> GuardedResource:
    """Return a resource as plain data."""
    provider = plain(found.provider.props, UnknownValueError) if found.provider else {}
    props = plain(found.props, UnknownValueError)
    return GuardedResource(found.resource_type, found.name, found.urn, props, bool(found.opts.protect), provider)


def _described(guardrail: Guardrail) -> dict[str, Any]:
    return {
        "name": guardrail.name,
        "display_name": guardrail.title,
        "description": guardrail.description,
        "enforcement_level": EnforcementLevel(guardrail.level),
        "severity": Severity(guardrail.severity),
        "config_schema": PolicyConfigSchema(dict(guardrail.properties)),
    }


def _report(found: Iterable[Violation], report: ReportViolation) -> None:
    for each in found:
        report(each.message, each.urn or None)


def of_resources(guardrail: Guardrail, check: Callable[[GuardedResource, Settings], Iterable[Violation]]) -> Policy:
    """Return a policy that looks at each resource by itself."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        _report(check(subject_of(args), guardrail.settings(args.get_config())), report)

    return ResourceValidationPolicy(validate=validate, **_described(guardrail))


def of_stacks(
    guardrail: Guardrail, check: Callable[[list[GuardedResource], Settings], Iterable[Violation]]
) -> Policy:
    """Return a policy that looks at all resources together."""

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        _report(check([subject_of(each) for each in args.resources], guardrail.settings(args.get_config())), report)

    return StackValidationPolicy(validate=validate, **_described(guardrail))


def _budget(subjects: list[GuardedResource], settings: Settings) -> Iterable[Violation]:
    if "maxUsdPerMonth" not in settings:
        return ()
    return over_budget(subjects, float(settings["maxUsdPerMonth"]), settings["when"], settings["usdPerHour"])


def policies() -> list[Policy]:
    """Return every policy."""
    return [
        of_stacks(BUDGET, _budget),
        of_resources(INSTANCE_TYPES, lambda found, to: forbidden_types(found, to["allowed"], to["denied"])),
        of_resources(REGIONS, lambda found, to: forbidden_regions(found, to["allowed"])),
        of_resources(CLUSTER_ACCESS, lambda found, to: open_clusters(found, int(to["widestPrefix"]))),
        of_stacks(BALANCERS, lambda found, to: open_balancers(found, int(to["widestPrefix"]), to["allowed"])),
        of_resources(PROTECTION, lambda found, to: unprotected(found, to["stacks"], to["protected"])),
        of_resources(TAGS, lambda found, to: missing_tags(found, to["tags"], to["taggable"])),
    ]


def serve() -> None:
    """Answer Pulumi until it is done."""
    PolicyPack("inference-platform", policies(), enforcement_level=EnforcementLevel.MANDATORY)
