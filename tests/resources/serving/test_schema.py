"""What other Pulumi languages see. After a wanted change: ``make schema-golden``, and read the diff."""

import functools
import inspect
import json
from typing import Any

import pulumi
import pytest

from components import resources
from components.families import FAMILIES
from components.resources.plugin import NAME, SCHEMA, Host, components
from tests.registry import schema as generated

PUBLIC = components()
SERVING = {"Playground", "Service", "InferenceService", "ModelRoute"}
SERVING_REFERRED = SERVING - {"ModelRoute"}
SERVING_WITH_MANIFEST = {"ModelBooster", "ModelServing"}


@functools.cache
def schema() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(SCHEMA.read_text())
    return parsed


def test_the_file_is_what_the_components_declare() -> None:
    assert schema() == generated.schema()


def test_the_plugin_serves_the_file() -> None:
    assert json.loads(Host("1.2.3").schema or "{}") == {**schema(), "version": "1.2.3"}


def test_every_public_component_stands_in_it() -> None:
    families = {member.component for family in FAMILIES for member in family.members if member.component}
    assert {"BackendRuntime", "InferenceService", "Model", "OpenModel", "Playground", "Service"} <= families
    assert {"ModelBooster", "ModelServing", "ModelServer", "ModelRoute"} <= families
    assert {"AutoscalingPolicy", "AutoscalingPolicyBinding", "VariantAutoscaling"} <= families
    listed = {f"{NAME}:index:{name}" for name in (*resources.COMPONENTS, *families)}
    assert set(schema()["resources"]) == listed
    assert {"ModelFleet", "GpuNodeGroups", "Cluster", "Network", "Identities", "CustomResources"} <= {
        *resources.COMPONENTS
    }


@pytest.mark.parametrize("component", PUBLIC)
def test_every_argument_is_documented(component: type[Any]) -> None:
    described = schema()["resources"][f"{NAME}:index:{component.__name__}"]["inputProperties"]
    assert described
    assert [name for name, facts in described.items() if not facts.get("description")] == []


@pytest.mark.parametrize(
    ("component", "argument"),
    [("Playground", "model"), ("Playground", "draftModel"), ("Playground", "backendRuntime"), ("Service", "model"),
     ("InferenceService", "model"), ("ModelFleet", "manifests"), ("SimulatedNodes", "manifests"),
     ("GpuNodeGroups", "manifests"), ("KarpenterPools", "manifests"), ("AutoscalingPolicyBinding", "policy"),
     ("AutoscalingPolicyBinding", "targets"), ("VariantAutoscaling", "targets"),
     ("ModelRoute", "servers"), ("ModelRoute", "servings")],
)  # fmt: skip
def test_what_another_component_gives_may_be_its_output(component: str, argument: str) -> None:
    """A plain property is no Input in TypeScript, Go and C#: an output does not compile there."""
    described = schema()["resources"][f"{NAME}:index:{component}"]["inputProperties"][argument]
    several = argument in {"manifests", "targets", "servers", "servings"}
    assert described["type"] == ("array" if several else "object")
    assert "plain" not in described


def test_every_key_of_every_type_is_documented() -> None:
    for name, facts in schema()["types"].items():
        assert facts["description"], name
        assert [key for key, value in facts["properties"].items() if not value.get("description")] == [], name


@pytest.mark.parametrize("component", PUBLIC)
def test_outputs_are_documented_and_these(component: type[Any]) -> None:
    outputs = schema()["resources"][f"{NAME}:index:{component.__name__}"]["properties"]
    assert outputs
    if component.__name__ in SERVING:
        referred = {"manifest"} if component.__name__ in SERVING_REFERRED else set()
        assert set(outputs) == {"endpoint", "model", "workloadName", "namespace"} | referred
    if component.__name__ in SERVING_WITH_MANIFEST:
        assert set(outputs) == {"endpoint", "model", "workloadName", "namespace", "manifest", "urls"}
    if component.__name__ == "ModelFleet":
        assert set(outputs) == {"endpoints", "models", "nodes", "prerequisites", "adapterRules", "cost"}


def test_arguments_are_optional_but_for_what_a_component_cannot_do_without() -> None:
    resources = schema()["resources"]
    required = {name.rpartition(":")[2]: facts.get("requiredInputs", []) for name, facts in resources.items()}
    assert required["ModelFleet"] == []
    assert required["Playground"] == ["model"]
    assert required["Service"] == ["model", "workerTemplate"]
    assert required["OpenModel"] == ["familyName"]
    assert required["ModelBooster"] == [], "backends or backend, by the release of Kthena"
    assert required["AutoscalingPolicyBinding"] == ["policy", "targets"]
    assert required["VariantAutoscaling"] == ["accelerator", "modelId", "targets"], "a profile, by the release"


@pytest.mark.parametrize("component", PUBLIC)
def test_a_constructor_takes_a_name_arguments_and_options(component: type[Any]) -> None:
    assert list(inspect.signature(component.__init__).parameters) == ["self", "name", "args", "opts"]


class _Untyped(pulumi.ComponentResource):
    def __init__(self, name: str, args, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("inference-platform:index:Untyped", name, {}, opts)


def test_a_component_without_typed_arguments_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.resources.plugin.components", lambda: [_Untyped])
    with pytest.raises(TypeError, match=r"_Untyped: __init__ has no typed parameter 'args'.*declare one"):
        Host()
