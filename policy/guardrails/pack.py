"""The policy pack: each policy passes Pulumi's resources to a check, as plain data.

Resource policies see the inputs of each resource. Stack policies see the outputs of all resources, including those of
components and of the stack itself, also in a preview (pulumi/pulumi, pkg/resource/deploy/step_generator.go,
AnalyzeResources: "on the final outputs of each resource"; step_executor.go, which sets the outputs that a program
registers in either case). Values that are unknown in a preview are skipped, and checked during the deployment.
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


def subject_of(resource: ResourceValidationArgs | PolicyResource) -> GuardedResource:
    """Convert a resource to plain data."""
    provider = plain(resource.provider.props, UnknownValueError) if resource.provider else {}
    props = plain(resource.props, UnknownValueError)
    protect = bool(resource.opts.protect)
    return GuardedResource(resource.resource_type, resource.name, resource.urn, props, protect, provider)


def _described(guardrail: Guardrail) -> dict[str, Any]:
    return {
        "name": guardrail.name,
        "display_name": guardrail.title,
        "description": guardrail.description,
        "enforcement_level": EnforcementLevel(guardrail.level),
        "severity": Severity(guardrail.severity),
        "config_schema": PolicyConfigSchema(dict(guardrail.properties)),
    }


def _report(violations: Iterable[Violation], report: ReportViolation) -> None:
    for violation in violations:
        report(violation.message, violation.urn or None)


def of_resources(guardrail: Guardrail, check: Callable[[GuardedResource, Settings], Iterable[Violation]]) -> Policy:
    """Return a policy that checks each resource by itself."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        _report(check(subject_of(args), guardrail.settings(args.get_config())), report)

    return ResourceValidationPolicy(validate=validate, **_described(guardrail))


def of_stacks(
    guardrail: Guardrail, check: Callable[[list[GuardedResource], Settings], Iterable[Violation]]
) -> Policy:
    """Return a policy that checks all resources together."""

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        subjects = [subject_of(resource) for resource in args.resources]
        _report(check(subjects, guardrail.settings(args.get_config())), report)

    return StackValidationPolicy(validate=validate, **_described(guardrail))


def _budget(subjects: list[GuardedResource], settings: Settings) -> Iterable[Violation]:
    if "maxUsdPerMonth" not in settings:
        return ()
    return over_budget(subjects, float(settings["maxUsdPerMonth"]), settings["when"], settings["usdPerHour"])


def policies() -> list[Policy]:
    return [
        of_stacks(BUDGET, _budget),
        of_resources(INSTANCE_TYPES, lambda subject, s: forbidden_types(subject, s["allowed"], s["denied"])),
        of_resources(REGIONS, lambda subject, s: forbidden_regions(subject, s["allowed"])),
        of_resources(CLUSTER_ACCESS, lambda subject, s: open_clusters(subject, int(s["widestPrefix"]))),
        of_stacks(BALANCERS, lambda subjects, s: open_balancers(subjects, int(s["widestPrefix"]), s["allowed"])),
        of_resources(PROTECTION, lambda subject, s: unprotected(subject, s["stacks"], s["protected"])),
        of_resources(TAGS, lambda subject, s: missing_tags(subject, s["tags"], s["taggable"])),
    ]


def serve() -> None:
    """Serve the policies until Pulumi ends the process."""
    PolicyPack("inference-platform", policies(), enforcement_level=EnforcementLevel.MANDATORY)
