"""Short ways to write VariantAutoscalings of later releases, and to render them in one."""

from dataclasses import replace
from typing import Any

import yaml

from components.families import parse
from components.fleet.options import Options
from components.fleet.rendered import Fleet
from components.fleet.words import Realization, WorkloadChoice
from components.plan.rendering import render_fleet
from tests.families.llmd.support import LABEL, MODEL, Object, levels

PARAMETERS = {"decodeParms": {"alpha": "20.58", "beta": "0.41"}, "prefillParms": {"gamma": "0", "delta": "0"}}


def of_parameters(name: str = "chat", *, accelerator: str | None = "L4", **fields: Any) -> Object:
    """A VariantAutoscaling of v0.0.5 to v0.4.2; further fields of its profile entry by their wire names."""
    entry = {"acc": "L4", "accCount": 1, "perfParms": PARAMETERS, "maxBatchSize": 4, **fields}
    entry = {key: value for key, value in entry.items() if value is not None}
    return document(name, accelerator, {"modelProfile": {"accelerators": [entry]}})


def of_target(
    name: str = "scaler",
    target: str = "chat",
    *,
    accelerator: str | None = None,
    kind: str = "Deployment",
    **spec: Any,
) -> Object:
    """A VariantAutoscaling of v0.5.0 and later; further fields of its spec by their wire names."""
    return document(name, accelerator, {"scaleTargetRef": {"kind": kind, "name": target}, **spec})


def document(name: str, accelerator: str | None, spec: Object) -> Object:
    return {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {"name": name, "namespace": "ns", **({"labels": {LABEL: accelerator}} if accelerator else {})},
        "spec": {"modelID": MODEL, **spec},
    }


def rendered(*documents: Object, release: str = "", operator: bool = False, **options: Any) -> Fleet:
    """Render documents in a release of VariantAutoscaling; with its controller, workloads are Deployments."""
    releases = {"llmd": release} if release else {}
    manifests = parse(yaml.safe_dump_all(documents, sort_keys=False), "fleet.yaml", releases)
    assert not manifests.problems, list(map(str, manifests.problems))
    if operator:
        options |= {"realizations": {"llmd": Realization.OPERATOR}, "workload": WorkloadChoice.DEPLOYMENT}
    variants = [each["metadata"]["name"] for each in documents if each["kind"] == "VariantAutoscaling"]
    usual = levels()
    usual = replace(usual, loads=dict.fromkeys(variants, usual.loads["chat"]))
    return render_fleet(manifests.resources, Options(**{"levels": usual, "releases": releases, **options}))
