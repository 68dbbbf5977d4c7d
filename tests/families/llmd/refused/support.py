"""Whole plans of variants, and what is wrong with them."""

from dataclasses import replace
from typing import Any

import yaml

from components.contract.problems import Problem, Severity, errors
from components.families import parse
from components.fleet.levels import LatencyTargets, ServiceClass, ServiceLevels
from components.fleet.options import Options
from components.fleet.words import Realization, WorkloadChoice
from components.plan.environment import Environment
from components.plan.plan import plan
from tests.families.llmd import support
from tests.families.llmd.support import LABEL, MODEL, Object, levels

NATIVE, OPERATOR = Realization.NATIVE, Realization.OPERATOR
LABELLED = f"metadata.labels[{LABEL}]"
ENTRY = "spec.modelProfile.accelerators[0]"


def problems(*documents: Object, asked: ServiceLevels | None = None, how: Realization = NATIVE) -> list[Problem]:
    """What the whole plan finds wrong with documents, as a file has them."""
    options = Options(
        namespace="ns",
        levels=asked or levels(),
        realizations={"llmd": how},
        workload=WorkloadChoice.DEPLOYMENT,
    )
    manifests = parse(yaml.safe_dump_all(documents, sort_keys=False), "models.yaml")
    assert not manifests.problems, list(map(str, manifests.problems))
    return list(plan(manifests, Environment(options=options)).problems)


def refusals(*documents: Object, **environment: Any) -> list[tuple[str, str, str]]:
    """Resource, field and reason of every error."""
    found = errors(problems(*documents, **environment))
    assert all(each.line for each in found), "each has its line"
    return [(f"{each.kind}/{each.name}", each.path, each.reason) for each in found]


def promising(*classes: ServiceClass) -> ServiceLevels:
    """Service classes, beside the load of upstream's sample."""
    return replace(levels(), classes=classes)


def playground() -> list[Object]:
    """A Playground that fits its nodes, and its model."""
    resources = {"cpu": "2", "memory": "8Gi"}
    return support.of_llmaz(backendRuntimeConfig={"resources": {"requests": resources, "limits": resources}})


PREMIUM = ServiceClass("Premium", 1, {MODEL: LatencyTargets(24, 500)})
FREEMIUM = ServiceClass("Freemium", 10, {MODEL: LatencyTargets(200, 2000)})
WAITING = ServiceClass("Premium", 1, {MODEL: LatencyTargets(0, 500)})


def told(*documents: Object, severity: Severity = Severity.WARNING, **environment: Any) -> dict[str, str]:
    """Reasons of the warnings, or of the notes, about variants, by field."""
    found = problems(*documents, **environment)
    assert not errors(found), list(map(str, errors(found)))
    reasons: dict[str, str] = {}
    for each in found:
        if each.kind == "VariantAutoscaling" and each.severity == severity:
            reasons[each.path] = f"{reasons.get(each.path, '')}{each.reason}\n"
    return reasons
