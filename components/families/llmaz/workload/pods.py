"""Pod templates, with what flavors, models and the environment add to them."""

from ....contract.findings.collector import Findings
from ....fleet.objects import Object
from ....fleet.options import Options
from ....fleet.placement import assign_nodes
from ....fleet.serving import disable_token_mount, override_pod
from ..flavors import node_choices
from ..loaders import RUNNER, mount_models
from ..models import Claim
from ..parallel import limits_of
from .asked import Asked


def finish_template(template: Object, asked: Asked, options: Options, findings: Findings) -> None:
    """Complete a template in place."""
    spec = template["spec"]
    if not spec.get("schedulerName"):
        spec["schedulerName"] = options.scheduler_name
    _limit(spec, asked)
    mount_models(spec, asked.claim, options, findings)
    assign_nodes(spec, node_choices(asked.claim.flavors, options.alternatives))
    override_pod(template, options.overrides)
    if options.realization.is_native:
        disable_token_mount(spec)


def _limit(spec: Object, asked: Asked) -> None:
    """Write the flavor's limits to requests and limits of the model runner, over what is there (spec 2.7)."""
    limits = limits_of(asked.claim.flavor, asked.parallelism)
    runner = next((c for c in spec["containers"] if c["name"] == RUNNER), None)
    if runner is None or not limits:
        return
    resources = runner.get("resources") or {}
    runner["resources"] = {
        **resources,
        "limits": {**(resources.get("limits") or {}), **limits},
        "requests": {**(resources.get("requests") or {}), **limits},
    }


def label(template: Object, claim: Claim) -> None:
    """Name the model, and the flavors that were chosen, on the pods that take requests."""
    metadata = template.setdefault("metadata", {})
    template["spec"] = template.pop("spec")  # metadata reads better before the spec
    metadata["labels"] = {
        **(metadata.get("labels") or {}),
        "llmaz.io/model-name": claim.main.metadata.name,
        "llmaz.io/model-family-name": claim.main.spec.family_name,
    }
    if claim.flavor_names:
        flavors = {"llmaz.io/inference-service-flavors": ",".join(claim.flavor_names)}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **flavors}
