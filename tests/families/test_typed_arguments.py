"""Every field of the contract is an argument of its component: typed, documented, under its own name on the wire."""

import ast
import importlib
import inspect
import itertools
import textwrap
from collections.abc import Iterator
from typing import Any, get_args, get_origin, is_typeddict

import pytest
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from components.contract.schema.embedded import definitions
from components.families import FAMILIES
from components.resources.kthena.args import ServingArgs
from components.resources.llmaz.args import WorkloadArgs
from components.resources.serving.args import FlavorArgs
from components.resources.serving.typed_args import keys_of, model_in, unknown_keys, wire

COMPONENTS = {m.kind.kind: (f.component(m), m.kind.model) for f in FAMILIES for m in f.members if m.component}
Path = tuple[str, ...]

ELSEWHERE: dict[str, dict[str, str]] = {
    "OpenModel": {
        "source.model_hub.name": "hub",
        "source.model_hub": "",
        "source": "",
        "inference_config": "",
    },
    "Playground": {
        "model_claim.model_name": "model",
        "model_claim": "",
        "model_claims.models.name": "model",
        "model_claims.models.role": "draft_model",
        "model_claims": "",
        "backend_runtime_config.version": "backend_version",
        "backend_runtime_config.resources": "",
        "backend_runtime_config": "",
        "elastic_config.scale_trigger.hpa": "",
        "elastic_config": "",
    },
    "Service": {
        "model_claims.models.name": "model",
        "model_claims.models.role": "draft_model",
        "model_claims": "",
        "workload_template": "",
    },
    "InferenceService": {"model_ref": "model"},
    "ModelBooster": {"name": "model_name"},
    "AutoscalingPolicyBinding": {"policy_ref.name": "policy", "policy_ref": ""},
    "ModelRoute": {"rules_": "rules"},
    "ModelRouter": {"rules_": "rules"},
    "LoRAAdapter": {"name": "adapter"},
}
"""Where arguments are flatter than the contract, or have a name of their own: the longest path that fits counts."""


WITHOUT = {
    each.name: set(each.without)
    for family in ("kthena", "llmaz", "llmd", "llmkube")
    for each in importlib.import_module(f"components.resources.{family}.argument_maps").MAPS
}
WITHOUT["FlavorArgs"] = {"requests"}  # llmaz v0.1.0 alone has it; flavors of components are those of the fleet
"""The fields that an argument map leaves out, by name of the arguments."""
EARLIER = {("Playground", "backend_runtime_config", "args")}
"""Fields whose type in earlier releases has fields of its own."""


def left_out(kind: str, path: Path) -> bool:
    """Whether an argument map leaves a field out, such as a form of earlier releases."""
    if len(path) > 2 and (kind, *path[:2]) in EARLIER:
        return True
    dotted = [".".join(path[:length]) for length in range(len(path), 0, -1)]
    without = next((len(key) for key in dotted if key in WITHOUT[f"{kind}Args"]), 0)
    if without > next((len(key) for key in dotted if key in ELSEWHERE.get(kind, {})), 0):
        return True
    typed = args_of(COMPONENTS[kind][0])
    for step in argument(kind, path):
        if not is_typeddict(typed):
            return False
        if step in WITHOUT.get(typed.__name__, ()):
            return True
        typed = item(keys_of(typed).get(step))
    return False


def fields(model: type[BaseModel], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every field of a type and of the types in it that has no type of the contract in it itself."""
    for name, field in model.model_fields.items():
        inner = model_in(field.annotation)
        if inner:
            yield from fields(inner, (*path, name))
        else:
            yield (*path, name), field


def spec_of(model: type[BaseModel]) -> type[BaseModel]:
    found: type[BaseModel] | None = model_in(model.model_fields["spec"].annotation)
    assert found is not None
    return found


def args_of(component: Any) -> Any:
    return inspect.get_annotations(component.__init__)["args"]


def argument(kind: str, path: Path) -> Path:
    for length in range(len(path), 0, -1):
        there = ELSEWHERE.get(kind, {}).get(".".join(path[:length]))
        if there is not None:
            return (*filter(None, (there,)), *path[length:])
    return path


def item(annotation: object) -> Any:
    """What a list or a map holds; anything else as it is."""
    return get_args(annotation)[-1] if get_origin(annotation) in (list, dict) else annotation


FIELDS = [
    pytest.param(kind, path, id=f"{kind}-{'.'.join(path)}")
    for kind, (_, model) in COMPONENTS.items()
    for path, _ in fields(spec_of(model))
    if not left_out(kind, path)
]


def find(typed: Any, path: Path) -> tuple[Any, str]:
    """The TypedDict that has the last step of a path, and that step."""
    for step in path[:-1]:
        assert is_typeddict(typed), f"{typed} is not typed, at {step}"
        typed = item(keys_of(typed)[step])
    return typed, path[-1]


@pytest.mark.parametrize(("kind", "path"), FIELDS)
def test_it_is_a_key_with_a_docstring(kind: str, path: Path) -> None:
    typed, key = find(args_of(COMPONENTS[kind][0]), argument(kind, path))
    assert key in keys_of(typed)
    assert documented(typed)[key].strip()


OWN = {
    "OpenModel": {"name", "realization", "release"},
    "BackendRuntime": {"name", "realization", "release"},
    "Model": {"name", "namespace", "realization", "release"},
    "InferenceService": {
        *(
            "name",
            "namespace",
            "realization",
            "release",
            "service_account_name",
            "cache_claim",
            "cache_host_path",
            "shared",
        ),
        *("shared", "draft_model", "autoscaled", "wait_until_ready", "ready_timeout", "instance_types"),
    },
    "ModelRouter": {"name", "namespace", "release"},
    "ModelPool": {"name", "namespace", "release"},
    "LoRAAdapter": {"name", "namespace", "release"},
    "GPUQuota": {"name", "namespace", "release"},
    "FederatedCluster": {"name", "release"},
    "Playground": {*WorkloadArgs.__annotations__, "backend_runtime", "args"},
    "Service": {*WorkloadArgs.__annotations__},
    "ModelBooster": {*ServingArgs.__annotations__},
    "ModelServing": {*ServingArgs.__annotations__, "autoscaled"},
    "AutoscalingPolicy": {"name", "namespace", "realization", "release", "targets"},
    "AutoscalingPolicyBinding": {"name", "namespace", "realization", "release", "targets"},
    "ModelServer": {"name", "namespace", "realization", "release"},
    "ModelRoute": {"name", "namespace", "realization", "release", "servers", "servings"},
    "VariantAutoscaling": {
        *("name", "namespace", "realization", "release", "workload", "targets"),
        *("accelerator", "service_class", "promise", "load", "cents_per_hour", "instance_types"),
    },
}
"""Arguments about other things than the specification."""


@pytest.mark.parametrize("kind", COMPONENTS)
def test_there_are_no_arguments_of_the_contract_beside_its_fields(kind: str) -> None:
    component, model = COMPONENTS[kind]
    of_contract = {argument(kind, path)[0] for path, _ in fields(spec_of(model)) if not left_out(kind, path)}
    assert set(keys_of(args_of(component))) == of_contract | OWN[kind]


def documented(typed: Any) -> dict[str, str]:
    """The literal under each key, of a TypedDict and of those that it extends."""
    found: dict[str, str] = {}
    for each in [typed, *getattr(typed, "__orig_bases__", ())]:
        if not is_typeddict(each):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0].body  # type: ignore[attr-defined]
        for key, literal in itertools.pairwise(body):
            if isinstance(key, ast.AnnAssign) and isinstance(literal, ast.Expr):
                found[key.target.id] = ast.literal_eval(literal.value)  # type: ignore[union-attr]
    return found


def pairs() -> Iterator[tuple[Any, type[BaseModel]]]:
    """Types of arguments, each with the type of the contract behind it."""
    for kind, (component, model) in COMPONENTS.items():
        for path, inner in containers(spec_of(model)):
            if left_out(kind, path):
                continue
            typed, key = find(args_of(component), argument(kind, path) or ("",))
            inside = item(keys_of(typed).get(key)) if key else None
            if is_typeddict(inside):
                yield inside, inner


def containers(model: type[BaseModel], path: Path = ()) -> Iterator[tuple[Path, type[BaseModel]]]:
    for name, field in model.model_fields.items():
        inner = model_in(field.annotation)
        if inner:
            yield (*path, name), inner
            yield from containers(inner, (*path, name))


PAIRS = list({typed: (typed, model) for typed, model in pairs()}.values())


def test_these_types_were_compared() -> None:
    names = {typed.__name__ for typed, _ in PAIRS}
    assert {"FlavorArgs", "RecommendedConfigArgs", "VllmConfigArgs", "GpuArgs", "AutoscalingArgs"} <= names
    assert {"ModelBackendArgs", "ServingGroupArgs", "ScalingTargetArgs", "RouteRateLimitArgs", "PDGroupArgs"} <= names
    assert len(PAIRS) >= 55


@pytest.mark.parametrize(("typed", "model"), PAIRS, ids=[typed.__name__ for typed, _ in PAIRS])
class TestTypes:
    def test_has_the_keys_of_the_contract_and_no_others(self, typed: Any, model: type[BaseModel]) -> None:
        assert set(keys_of(typed)) == set(model.model_fields) - WITHOUT.get(typed.__name__, set())

    def test_requires_what_the_contract_requires(self, typed: Any, model: type[BaseModel]) -> None:
        required = {name for name, field in model.model_fields.items() if field.is_required()}
        assert typed.__required_keys__ == required

    def test_keys_have_their_names_on_the_wire(self, typed: Any, model: type[BaseModel]) -> None:
        given = dict.fromkeys(keys_of(typed), 1)
        without = WITHOUT.get(typed.__name__, set())
        fields = {field.alias for name, field in model.model_fields.items() if name not in without}
        assert set(wire(given, typed, model)) == fields


@pytest.mark.parametrize(
    ("typed", "core"),
    [("MetricSpecArgs", "MetricSpec"), ("ScalingBehaviorArgs", "HorizontalPodAutoscalerBehavior")],
)
def test_autoscaling_is_that_of_kubernetes(typed: str, core: str) -> None:
    """Keys and requirements of autoscaling/v2, held against its published schema."""
    from components.resources.serving import args

    compared = list(_against_kubernetes(getattr(args, typed), f"io.k8s.api.autoscaling.v2.{core}"))
    assert len(compared) >= 3


def _against_kubernetes(typed: Any, core: str) -> Iterator[str]:
    schema = definitions()[core]
    assert {to_camel(key) for key in keys_of(typed)} == set(schema["properties"]), core
    assert {to_camel(key) for key in typed.__required_keys__} == set(schema.get("required", ())), core
    assert set(documented(typed)) == set(keys_of(typed)), core
    yield core
    for key, annotation in keys_of(typed).items():
        inner = schema["properties"][to_camel(key)]
        reference = inner.get("items", inner).get("$ref", "")
        if is_typeddict(item(annotation)):
            yield from _against_kubernetes(item(annotation), reference.rpartition("/")[2])


def test_unknown_keys_are_found_at_every_depth_with_what_may_have_been_meant() -> None:
    flavors: list[Any] = [{"name": "a"}, {"name": "b", "limit": {}, "nodeSelector": {}, "params": {"TP": "1"}}]
    assert list(unknown_keys(flavors, list[FlavorArgs], ("flavors",))) == [
        ("flavors[1].limit", "unknown argument; did you mean 'limits'?"),
        ("flavors[1].nodeSelector", "unknown argument; did you mean 'node_selector'?"),
    ]
    by_type: Any = {"a.b": {"name": "a", "param": {}}}
    assert list(unknown_keys(by_type, dict[str, FlavorArgs], ("types",))) == [
        ("types[a.b].param", "unknown argument; did you mean 'params'?"),
    ]
    assert list(unknown_keys({"x": 1}, FlavorArgs)) == [
        ("x", "unknown argument; known arguments: name, limits, node_selector, params")
    ]


def test_what_is_not_of_the_contract_is_taken_as_it_is() -> None:
    given = {
        "name": "a",
        "limits": {"nvidia.com/gpu": 1},
        "node_selector": {"a_b": "c_d"},
        "params": {"INSTANCE-TYPE": "x"},
    }
    assert wire(given, FlavorArgs) == {
        "name": "a",
        "limits": {"nvidia.com/gpu": 1},
        "nodeSelector": {"a_b": "c_d"},
        "params": {"INSTANCE-TYPE": "x"},
    }
    assert wire({"g5": given}, dict[str, FlavorArgs])["g5"]["nodeSelector"] == {"a_b": "c_d"}
    assert wire("a", FlavorArgs) == "a"
    assert wire({"name": "a"}, list[FlavorArgs]) == {"name": "a"}
