"""Short ways to write VariantAutoscalings of a fleet with the controller, and to look at what they become."""

from decimal import Decimal
from typing import Any

from components.fleet.levels import Accelerator, LatencyTargets, Load, ServiceClass, ServiceLevels, VariantController
from components.fleet.rendered import Fleet, Rendered
from components.fleet.words import Realization, WorkloadChoice
from tests.fleets import GPU, errors, fleet_of, open_model, playground, warnings

Object = dict[str, Any]
LABEL = "inference.optimization/acceleratorName"
HOME = "inferno-autoscaler-system"
MODEL = "default/default"
PREMIUM = ServiceClass("Premium", 1, {MODEL: LatencyTargets(24, 500), "meta/llama0-70b": LatencyTargets(80, 500)})
FREEMIUM = ServiceClass(
    "Freemium", 10, {"ibm/granite-13b": LatencyTargets(200, 2000), "meta/llama0-7b": LatencyTargets(150, 1500)}
)
"""The classes of upstream's sample (WVA spec 4)."""
ACCELERATORS = {
    "A100": Accelerator(Decimal(40), "NVIDIA-A100-PCIE-80GB"),
    "MI300X": Accelerator(Decimal(65), "AMD-MI300X-192GB"),
    "G2": Accelerator(Decimal(23), "Intel-Gaudi-2-96GB"),
}
PROFILES = {"A100": ("20.58", "0.41"), "MI300X": ("7.77", "0.15"), "G2": ("17.15", "0.34")}
"""The accelerators of upstream's samples (WVA spec 4, 12)."""


def variant(name: str = "chat", accelerator: str = "A100", model: str = MODEL, **metadata: Any) -> Object:
    """A VariantAutoscaling; further fields of its metadata by their wire names."""
    alpha, beta = PROFILES[accelerator]
    profile = {"acc": accelerator, "accCount": 1, "alpha": alpha, "beta": beta, "maxBatchSize": 4}
    return {
        "apiVersion": "llmd.ai/v1alpha1",
        "kind": "VariantAutoscaling",
        "metadata": {"name": name, "labels": {LABEL: accelerator}, **metadata},
        "spec": {
            "modelID": model,
            "sloClassRef": {"name": "service-classes-config", "key": "premium.yaml"},
            "modelProfile": {"accelerators": [profile]},
        },
    }


def levels(*classes: ServiceClass, loads: dict[str, Load] | None = None, **controller: Any) -> ServiceLevels:
    """What is promised: upstream's samples unless classes are given; settings of the controller by name."""
    return ServiceLevels(classes or (PREMIUM, FREEMIUM), loads or {}, ACCELERATORS, VariantController(**controller))


def load(per_minute: float, tokens: int = 178) -> Load:
    return Load(Decimal(str(per_minute)), Decimal(tokens))


def served(*names: str, model: str = MODEL) -> list[Object]:
    """Weights, and playgrounds that become Deployments of some names, which serve them under the name of a model."""
    arguments = {"args": ["--served-model-name", model]}
    flavor = {**GPU, "params": {"INSTANCE-TYPE": "p4d.24xlarge"}}
    return [open_model(flavors=[flavor]), *(playground(name, backendRuntimeConfig=arguments) for name in names)]


def promised(*models: str) -> ServiceLevels:
    """A class in which some models are."""
    return levels(ServiceClass("Premium", 1, dict.fromkeys(models, LatencyTargets(24, 500))))


def operated(*documents: Object, given: ServiceLevels | None = None, **options: Any) -> Fleet:
    """A fleet whose variants are the controller's, and whose models are ours."""
    options.setdefault("workload", WorkloadChoice.DEPLOYMENT)
    own = {"llmd": Realization.OPERATOR}
    return fleet_of(*documents, levels=given or levels(), realizations=own, **options)


def working(*documents: Object, **options: Any) -> Fleet:
    """Such a fleet without an error."""
    fleet = operated(*documents, **options)
    assert not errors(fleet), [str(problem) for problem in errors(fleet)]
    return fleet


def the_error(fleet: Fleet) -> str:
    (problem,) = errors(fleet)
    return str(problem)


def told(fleet: Fleet) -> list[str]:
    return [str(problem) for problem in warnings(fleet)]


def maps(fleet: Fleet) -> dict[str, Object]:
    """The ConfigMaps of a fleet by name."""
    return {body["metadata"]["name"]: body for body in fleet.objects if body["kind"] == "ConfigMap"}


def item(fleet: Fleet, name: str = "chat") -> Rendered:
    """What the VariantAutoscaling of a name became."""
    (found,) = [each for each in fleet.rendered if (each.kind, each.name) == ("VariantAutoscaling", name)]
    return found
