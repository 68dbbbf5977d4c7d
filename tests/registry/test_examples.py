"""The examples of the registry: one definition per component, which runs, in every language of Pulumi."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.resources.plugin import NAME, SCHEMA, components
from tests.recorded import Recorded, deploy
from tests.registry.languages import texts
from tests.registry.programs import Schema, program
from tests.registry.schema import definitions, schema
from tests.resources.aws.aws_mock import Aws
from tests.resources.plugin.engine import Plugin, running

COMPONENTS = {each.__name__: each for each in components()}
LANGUAGES = ["typescript", "python", "go", "csharp", "java", "yaml"]
RESOURCES: dict[str, Any] = json.loads(SCHEMA.read_text())["resources"]
MODELS = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: opt}
spec: {familyName: opt, source: {modelHub: {modelID: facebook/opt-125m}}, inferenceConfig: {flavors: [
  {name: l40s, limits: {nvidia.com/gpu: 1}, params: {INSTANCE-TYPE: g6e.2xlarge}}]}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {modelClaim: {modelName: opt}}
"""


def tabs(component: str) -> dict[str, str]:
    """Read the examples of a component from the schema, as the registry does."""
    description: str = RESOURCES[f"{NAME}:index:{component}"]["description"]
    section = re.search(r"\{\{% examples %\}\}(.*)\{\{% /examples %\}\}\Z", description, re.DOTALL)
    assert section
    return dict(re.findall(r"^```(\w+)\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that the example of a fleet reads."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models/opt.yaml").write_text(MODELS)
    monkeypatch.chdir(tmp_path)


def in_python(component: str) -> Recorded:
    text = tabs(component)["python"].replace("from inference_platform", "from components")
    return deploy(lambda: exec(compile(text, f"{component}.py", "exec"), {}), mock=Aws())


@pytest.mark.parametrize("component", COMPONENTS)
def test_there_is_a_tab_for_each_language(component: str) -> None:
    assert [*tabs(component)] == LANGUAGES


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_python_program_runs(component: str) -> None:
    token = f"{NAME}:index:{component}"
    recorded = in_python(component)
    (subject,) = recorded.of(token)
    assert subject.parent == ""
    declares = {"OpenModel", "BackendRuntime", "Model", "AutoscalingPolicy", "ModelServer", "ModelRoute"}
    assert component in declares or any(each.parent == subject.key for each in recorded.graph)


@pytest.mark.parametrize("component", COMPONENTS)
def test_each_language_creates_the_resources_with_all_arguments(component: str) -> None:
    wanted = definitions()[component]
    for language, text in tabs(component).items():
        for name, resource in wanted.items():
            ((kind, arguments),) = resource.items()
            assert kind in text, language
            assert name in text, language
            plain = text.lower().replace("_", "")
            assert [key for key in arguments if key.lower() not in plain] == [], language


@pytest.fixture(scope="module")
def plugin() -> Iterator[Plugin]:
    with running() as found:
        yield found


OF_A_CLOUD = {name for name, each in COMPONENTS.items() if ".resources.aws." in each.__module__}
CHARTS_OF_A_CLOUD = {"ClusterAutoscaler", "EfaDevicePlugin", "LoadBalancerController", "NeuronDevicePlugin"}


# The recording engine has no cloud behind it: it returns no IDs or ARNs of AWS, which most of its components need.
@pytest.mark.parametrize("component", sorted(COMPONENTS.keys() - OF_A_CLOUD | CHARTS_OF_A_CLOUD))
def test_the_yaml_program_constructs_the_same_through_the_plugin(component: str, plugin: Plugin) -> None:
    """What the CLI sends for the YAML program, and for those of languages with the same schema."""
    outputs: dict[str, dict[str, Any]] = {}
    document = yaml.safe_load(tabs(component)["yaml"])
    if component == "ModelFleet":  # its folder is relative to that of the program, and the plugin runs elsewhere
        document["resources"]["fleet"]["properties"]["files"] = [str(Path("models").resolve())]
    for name, resource in document["resources"].items():
        package, _, kind = resource["type"].partition(":")
        assert package == NAME
        inputs = resolved(resource.get("properties", {}), outputs)
        outputs[name] = plugin.construct(kind, name, inputs)
    subject = f"{NAME}:index:{component}"
    assert subject in [each.type for each in plugin.engine.registered]
    own = {(each.type, each.name) for each in plugin.engine.registered}
    there = in_python(component)
    (parent,) = there.of(subject)
    inside = [each for each in there.graph if parent.key in (each.key, *ancestors(there, each.parent))]
    assert own == {(each.type, each.name) for each in inside}


def ancestors(recorded: Recorded, key: str) -> Iterator[str]:
    while key:
        yield key
        key = recorded[key].parent


def resolved(value: Any, outputs: Mapping[str, Mapping[str, Any]]) -> Any:
    if isinstance(value, str) and (found := re.fullmatch(r"\$\{(\w+)\.(\w+)\}", value)):
        return outputs[found[1]][found[2]]
    if isinstance(value, list):
        return [resolved(each, outputs) for each in value]
    return {key: resolved(each, outputs) for key, each in value.items()} if isinstance(value, dict) else value


SMALL: Schema = {
    "name": "toy",
    "namespace": "acme",
    "language": {
        "go": {"importBasePath": "example.com/toy"},
        "csharp": {"rootNamespace": "Acme"},
        "java": {"basePackage": "com.acme"},
    },
    "resources": {
        "toy:index:Part": {
            "inputProperties": {
                "size": {"type": "integer", "plain": True},
                "used": {"type": "boolean", "plain": True},
                "label": {"type": "string"},
                "more": {"type": "array", "items": {"$ref": "pulumi.json#/Any", "plain": True}, "plain": True},
                "inner": {"$ref": "#/types/toy:index:Inner", "plain": True},
            },
            "requiredInputs": ["size"],
            "properties": {"id2": {"type": "string"}},
        }
    },
    "types": {"toy:index:Inner": {"properties": {"depth": {"type": "number", "plain": True}}, "required": ["depth"]}},
}


def made(**arguments: Any) -> dict[str, str]:
    first, second = {"Part": {"size": 1}}, {"Part": {"size": 2, **arguments}}
    return texts(program({"a": first, "b": second}, SMALL), {"Part": "toy"})


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {"typescript": "{ size: 2 }", "python": '{"size": 2}', "go": "Size: 2", "java": ".size(2)",
              "csharp": "Size = 2", "yaml": "size: 2"}),
        ({"used": True}, {"typescript": "used: true", "python": '"used": True', "go": "Used: pulumi.BoolRef(true)",
                        "java": ".used(true)", "csharp": "Used = true", "yaml": "used: true"}),
        ({"label": "${a.id2}"}, {"typescript": "label: a.id2", "python": '"label": a.id2', "go": "Label: a.Id2",
                                 "java": ".label(a.id2())", "csharp": "Label = a.Id2", "yaml": "label: ${a.id2}"}),
        ({"label": "x"}, {"go": 'Label: pulumi.String("x")', "typescript": 'label: "x"'}),
        ({"more": ["x", 1]}, {"go": 'More: []interface{}{"x", 1}', "java": '.more(List.of("x", 1))',
                              "csharp": 'More = new object[] { "x", 1 }', "python": '"more": ["x", 1]'}),
        ({"inner": {"depth": 1.5}}, {"go": "Inner: &toy.InnerArgs{Depth: 1.5}", "typescript": "inner: { depth: 1.5 }",
                                     "java": ".inner(InnerArgs.builder().depth(1.5).build())",
                                     "csharp": "Inner = new Toy.Inputs.InnerArgs { Depth = 1.5 }"}),
        ({"inner": {"depth": 2}}, {"go": "Depth: 2}", "java": ".depth(2.0)", "typescript": "depth: 2 "}),
    ],
)  # fmt: skip
def test_values_in_each_language(arguments: dict[str, Any], expected: dict[str, str]) -> None:
    found = made(**arguments)
    for language, part in expected.items():
        assert part in found[language], language


def test_only_go_has_to_use_each_variable() -> None:
    assert '_, err := toy.NewPart(ctx, "a"' in made()["go"]
    assert '_, err = toy.NewPart(ctx, "b"' in made()["go"]
    assert 'a, err := toy.NewPart(ctx, "a"' in made(label="${a.id2}")["go"]


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ({"a": {"Prt": {}}}, "a: unknown component Prt"),
        ({"a": {"Part": {"sise": 1}}}, "a.sise: unknown argument; known are size"),
        ({"a": {"Part": {"inner": {"deep": 1}}}}, "a.inner.deep: unknown argument; known are depth"),
        ({"a": {"Part": {"label": "${b.id2}"}}}, r"\$\{b.id2\} is no output of a resource above"),
        ({"b": {"Part": {}}, "a": {"Part": {"label": "${b.x}"}}}, r"\$\{b.x\} is no output of a resource above"),
    ],
)
def test_a_definition_that_does_not_fit_the_schema_is_refused(definition: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        program(definition, SMALL)


def test_a_component_without_an_example_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.registry.schema.definitions", dict)
    with pytest.raises(ValueError, match="Keda has no example"):
        schema([COMPONENTS["Keda"]])


def test_an_example_is_of_a_component() -> None:
    assert set(definitions()) == set(COMPONENTS)
