"""A second toy: a family that implements every protocol that another family implements as well."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from components.contract.base import ApiModel, Json, PositiveInt32
from components.contract.findings.collector import Findings
from components.contract.kinds import Kind
from components.contract.load import LoadedResource
from components.contract.meta import Resource
from components.contract.problems import Problem
from components.families.family import (
    Convertible,
    Expandable,
    Family,
    FlavorReader,
    FlavorReading,
    Member,
    OperatorObjects,
    OperatorSite,
    ScalingSimulator,
    SharedObjects,
    VariantDescriber,
)
from components.fleet.demand import NodeChoice, NodeField, PodDemand
from components.fleet.library import Library
from components.fleet.objects import Object
from components.fleet.options import Options
from components.fleet.origins import Argument
from components.fleet.rendered import Rendered
from components.fleet.serving import as_manifest
from components.performance.simulation.runs import Pass, ScalingRun
from components.performance.simulation.scenario import (
    AutoscalerQuery,
    Scenario,
    ScenarioError,
    SimulatedTarget,
    Simulator,
)
from components.performance.simulation.trace import Moment, TargetReading, Trace
from components.performance.sizing.cases import ModelVariant, Profile


class PacerSpec(ApiModel):
    """How fast a model is, and the replicas that it always has."""

    model: str
    accelerator: str
    alpha: PositiveInt32 = 7
    most: PositiveInt32 = 3


class Pacer(Resource):
    """An autoscaler without second thoughts."""

    api_version: Literal["rival.example/v1"]
    kind: Literal["Pacer"]
    spec: PacerSpec


def spec_of(source: LoadedResource) -> PacerSpec:
    assert isinstance(source.resource, Pacer)
    return source.resource.spec


def render_pacer(source: LoadedResource, _library: Library, options: Options, _findings: Findings) -> Rendered:
    body = as_manifest(source, options)
    return Rendered(source, "Pacer", source.name, body["metadata"]["namespace"], others=(body,))


def places(resources: Sequence[LoadedResource], namespace: str) -> tuple[tuple[str, str], ...]:
    found = [each for each in resources if isinstance(each.resource, Pacer)]
    return tuple((each.resource.metadata.namespace or namespace, each.name) for each in found)


def scenario(resources: Sequence[LoadedResource], names: AutoscalerQuery) -> Scenario:
    """Always as many replicas as the Pacer may have."""
    own = names.binding.rpartition("/")[2]
    found = [each for each in resources if isinstance(each.resource, Pacer) and each.name == own]
    if not found:
        raise ScenarioError(f"no Pacer {own}")
    most = spec_of(found[0]).most

    def read(trace: Trace, _defects: Sequence[str], _every: int | None) -> tuple[Moment, ...]:
        reading = TargetReading({"load": Fraction(1)}, 1)
        return tuple(Moment(time, {own: reading}) for time in trace.times)

    def run(moments: Sequence[Moment], start: Mapping[str, int], _defects: Sequence[str]) -> ScalingRun:
        return ScalingRun("rival's pacer", start, [Pass(each.time, {own: most}, most) for each in moments])

    return Scenario(
        "rival's pacer",
        (found[0], found[0]),
        names.namespace,
        (SimulatedTarget(own, 1, most),),
        {"load": Fraction(1)},
        read,
        run,
    )


class PacerMember(Member, Expandable, Convertible):
    """A Pacer stands for a ConfigMap, with and without a defect."""

    def expand(self, source: LoadedResource, options: Options, findings: Findings) -> tuple[Object, ...]:
        return (config_map(f"{source.name}-expanded", options.namespace),)

    def convert(self, source: LoadedResource, options: Options) -> tuple[tuple[Object, ...], str]:
        return (config_map(f"{source.name}-literal", options.namespace),), ""


def config_map(name: str, namespace: str) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {}}


class Rival(Family, FlavorReader, ScalingSimulator, VariantDescriber, SharedObjects, OperatorObjects):
    """Has flavors, autoscalers, variants, shared objects and an operator: llmaz, Kthena and llm-d have one or two."""

    def read_flavor(self, value: Json, at: Argument, alternatives: Mapping[str, tuple[str, ...]]) -> FlavorReading:
        params = value.get("params") or {} if isinstance(value, dict) else {}
        machine = params.get("MACHINE")
        if not machine:
            reason = "must name an instance type, found none; add MACHINE, such as g6.xlarge"
            return FlavorReading(fits=False, problems=(at.below("params").problem(reason),))
        choice = NodeChoice(value["name"], machine, {}, alternatives.get(machine, ()), NodeField(at, "MACHINE", ""))
        return FlavorReading(fits=True, demand=PodDemand(0, {"nvidia.com/gpu": Decimal(1)}, (choice,)))

    def simulators(self) -> tuple[Simulator, ...]:
        return (Simulator("Pacer", {"R-1": "it never looks at the load"}, places, scenario),)

    def variant(self, source: LoadedResource) -> ModelVariant | None:
        spec = spec_of(source)
        profile = Profile(spec.accelerator, 1, float(spec.alpha), 0.03, 64)
        return ModelVariant(source, spec.model, spec.accelerator, (profile,))

    def profile_entry(self, profile: Profile) -> Json:
        return {"accelerator": profile.accelerator, "alpha": round(profile.alpha)}

    def family_objects(
        self,
        rendered: Sequence[Rendered],
        library: Library,
        options: Options,
    ) -> tuple[list[Problem], tuple[Rendered, ...]]:
        body = config_map("pacers", options.namespace)
        return [], (Rendered(replace(rendered[0].source), "ConfigMap", "pacers", options.namespace, others=(body,)),)

    def operator_objects(self, site: OperatorSite) -> tuple[Object, ...]:
        return (config_map("pacer-operator", "rival-system"),)


RIVAL = Rival(
    name="rival",
    package="tests.toy",
    operator="rival",
    members=(PacerMember(Kind("rival.example/v1", "Pacer", Pacer, "pacers", namespaced=True), render_pacer),),
)
