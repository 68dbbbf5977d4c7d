# ruff: noqa: E501 - tables of values
"""Reading YAML as Kubernetes does, with the line of every problem."""

import gc
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.contract.documents.reader import MAX_DEPTH, YamlError, compose, read_documents
from components.contract.findings.ids import RuleId
from components.contract.load import LoadedResource
from components.contract.problems import Problem, Severity, did_you_mean, field_path, path_parts
from components.families import load, parse
from tests.contract.documents import DOCUMENTS

GOOD = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: m}
spec:
  familyName: f
  source:
    uri: ollama://m
"""


def value(text: str) -> Any:
    (document,) = read_documents(text)
    return document.value


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("yes", True), ("Off", False), ("y", True), ("N", False), ("TRUE", True), ("yEs", "yEs"), ("~", None), ("null", None),
        ("'yes'", "yes"), ('"1"', "1"), ("1", 1), ("0o17", 15), ("017", 15), ("0x1F", 31), ("0b11", 3), ("-0x1", -1), ("08", 8.0),
        ("1_000", 1000), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0), ("1e", "1e"), ("5.", 5.0), ("+5", 5), ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"), ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"), ("8Gi", "8Gi"), ("-", [None]),
        ("18446744073709551615", 2**64 - 1), ("18446744073709551616", float(2**64)), ("!!str 5", "5"), ("!!int '5'", 5),
        ("!!float 5", 5.0), ("!!bool 'yes'", True), ("1e400", "1e400"), ("v1.2", "v1.2"), ("=", "="),
    ],
)  # fmt: skip
def test_scalars(text: str, meaning: Any) -> None:
    found = value(f"a: {text}" if text != "-" else "a:\n-")["a"]
    assert found == meaning
    assert type(found) is type(meaning)


@pytest.mark.parametrize(
    ("key", "name"), [("yes", "true"), ("1", "1"), ("1.5", "1.5"), ("'yes'", "yes"), ("<<x", "<<x")]
)
def test_keys_become_text(key: str, name: str) -> None:
    assert value(f"{key}: x") == {name: "x"}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a: 1\nb: .nan", 2, ".nan is not a number that JSON can represent"),
        ("a: -.Inf", 1, "JSON"),
        ("a: !!binary aGk=", 1, "tag"),
        ("a: !mine x", 1, "tag '!mine' is not allowed"),
        ("a: !!set {x}", 1, "not allowed"),
        ("\n? [a]\n: b", 2, "a key must be a string"),
        ("~: b", 1, "put it in quotes"),
        ("a: *b", 1, "not valid YAML"),
        ("a: [1, 2", 1, "not valid YAML"),
        ("a: 1\n\tb: 2", 2, "not valid YAML"),
        ("a: \x00", 1, "not valid YAML"),
        ("<<: 5", 1, "<< can merge only a map"),
        ("a: !!int x", 1, "not an integer"),
        ("[" * (MAX_DEPTH + 5) + "]" * (MAX_DEPTH + 5), 1, "nested too deeply"),
    ],
)
def test_what_json_cannot_say_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(YamlError) as error:
        list(read_documents(text))
    assert reason in error.value.reason
    assert error.value.line in (line, line + 1)  # libyaml notices an unclosed list a line later


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("apiVersion: v1\nkind: Secret\napiVersion: v1\n", "write '---' on a line before it"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nmetadata: {name: b}\n", "remove one"),
    ],
)
def test_a_duplicate_key_that_starts_another_resource(text: str, advice: str) -> None:
    assert advice in parse(text).problems[0].reason


def test_the_deepest_nesting_is_a_message() -> None:
    (problem,) = parse("[" * 200_000).problems
    assert "YAML" in problem.reason or "nested" in problem.reason


def test_aliases_that_explode_are_bounded() -> None:
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    (problem,) = parse("\n".join(laughs)).problems
    assert "aliases expand" in problem.reason


def test_an_alias_of_itself_is_a_message() -> None:
    (problem,) = parse("a: &a [*a]").problems
    assert problem.reason


def test_anchors_and_merges() -> None:
    text = "base: &b {x: 1, w: 2}\nlist: [&c {z: 3}]\none: {<<: *b, x: 9}\ntwo:\n  <<: [*b, *c]\n"
    assert value(text) == {
        "base": {"x": 1, "w": 2},
        "list": [{"z": 3}],
        "one": {"x": 9, "w": 2},
        "two": {"x": 1, "w": 2, "z": 3},
    }


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_what_pyyaml_writes_is_read_back(data: Any) -> None:
    """Quoted and tagged, as PyYAML writes the text ``y`` plain, which Kubernetes reads as true."""
    text = yaml.dump({"a": data}, Dumper=yaml.CSafeDumper, default_style='"')
    assert value(text) == {"a": data}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d["kind"])
def test_documents_survive_reading_and_writing(document: dict[str, Any]) -> None:
    (loaded,) = parse(yaml.dump(document)).resources
    assert loaded.resource.wire() == document


def test_lines_of_problems() -> None:
    text = (
        "# comment\n"
        + GOOD.replace("familyName: f", "familyName: [x]\n  famly: y")
        + "---\n---\n"
        + GOOD.replace("uri", "url")
    )
    found = parse(text, "f.yaml").problems
    assert [(p.line, p.path) for p in found] == [
        (6, "spec.familyName"), (7, "spec.famly"), (18, "spec.source.url"),
    ]  # fmt: skip
    assert str(found[2]) == "f.yaml:18: OpenModel/m: spec.source.url: unknown field; did you mean 'uri'?"


def test_a_missing_field_has_the_line_of_its_parent() -> None:
    (problem,) = parse(GOOD.replace("  familyName: f\n", "")).problems
    assert (problem.line, problem.path, problem.reason) == (4, "spec.familyName", "is required; set it")


def test_lists_are_opened() -> None:
    item = "\n".join("  " + line for line in GOOD.splitlines())
    text = f"apiVersion: v1\nkind: List\nitems:\n-{item[1:]}\n-{item[1:].replace('familyName', 'family')}\n"
    found = parse(text)
    assert [loaded.line for loaded in found.resources] == [4]
    assert [(p.line, p.path) for p in found.problems] == [(14, "spec.familyName"), (15, "spec.family")]
    (loaded,) = found.resources
    assert loaded.problem("spec.source.uri", "x").line == 10


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("kind: OpenModel", "apiVersion", "is required"),
        ("apiVersion: llmaz.io/v1alpha1", "kind", "is required"),
        ("apiVersion: v1\nkind: OpenModel", "apiVersion", "must be 'llmaz.io/v1alpha1' for kind OpenModel"),
        ("apiVersion: llmaz.io/v1alpha1\nkind: OpenModl", "kind", "did you mean 'OpenModel'?"),
        ("apiVersion: v1\nkind: Deployment", "kind", "unknown kind 'v1/Deployment'"),
        ("- a", "", "must be a map"),
        ("just text", "", "must be a map"),
        ("apiVersion: v1\nkind: List\nitems: {}", "items", "must be a list of objects"),
        ("apiVersion: 1\nkind: []", "apiVersion", "is required"),
    ],
)
def test_other_documents_are_problems(text: str, path: str, reason: str) -> None:
    (problem,) = parse(text).problems
    assert problem.path == path
    assert reason in problem.reason


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("kind: OpenModel", "set it to 'llmaz.io/v1alpha1'"),
        ("apiVersion: llmaz.io/v1alpha1", "use one of llmaz.io/v1alpha1/OpenModel"),
    ],
)
def test_only_what_completes_the_other_field_is_offered(text: str, offered: str) -> None:
    (problem,) = parse(text).problems
    assert problem.reason.endswith(offered)


@pytest.mark.parametrize("text", ["", "---", "# nothing\n", "---\n---\n# x\n", "~", "\ufeff" + GOOD])
def test_empty_documents_are_nothing(text: str) -> None:
    assert parse(text.removeprefix("\ufeff")).problems == ()


@pytest.mark.parametrize(
    ("text", "what", "severity"),
    [
        ("", "is empty", Severity.ERROR),
        ("\n---\n", "is empty", Severity.ERROR),
        # Those of a stack whose models are yet to come.
        ("# a: b\n", "contains only comments", Severity.WARNING),
    ],
)
def test_an_empty_file_is_an_error_if_there_is_nothing_else(
    tmp_path: Path, text: str, what: str, severity: Severity
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (problem,) = load([tmp_path]).problems
    assert (problem.severity, problem.rule, problem.line) == (severity, RuleId.MANIFEST_EMPTY, 0)
    assert what in problem.reason

    (tmp_path / "b.yaml").write_text(GOOD)
    (problem,) = load([tmp_path]).problems
    assert (Path(problem.file).name, problem.severity) == ("a.yaml", Severity.WARNING)


def test_an_empty_list_is_a_manifest(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n")
    assert load([tmp_path]).problems == ()


def test_duplicate_keys_are_refused_at_their_line() -> None:
    (problem,) = parse(GOOD + "    uri: host:///x\n").problems
    assert (problem.line, problem.name) == (8, "m")
    assert "'uri' appears twice" in problem.reason


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.yaml", "a.yml", "sub/c.yaml", "ignored.txt"):
        (tmp_path / name).write_text(GOOD)
    found = load([tmp_path, tmp_path / "a.yml"])
    assert [Path(r.file).name for r in found.resources] == ["a.yml", "b.yaml", "c.yaml"]
    assert found.problems == ()


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: \xe9\n")
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    (tmp_path / "empty").mkdir()
    found = load([tmp_path / "absent.yaml", tmp_path / "latin.yaml", tmp_path / "bom.yaml", tmp_path / "empty"])
    assert len(found.resources) == 1
    reasons = {(Path(p.file).name, p.line, p.severity): p.reason for p in found.problems}
    assert "no such file" in reasons["absent.yaml", 0, Severity.ERROR]
    assert "not UTF-8" in reasons["latin.yaml", 2, Severity.ERROR]
    assert "no *.yaml" in reasons["empty", 0, Severity.ERROR]


def test_documents_before_bad_yaml_are_kept() -> None:
    found = parse(GOOD + "---\na: [")
    assert len(found.resources) == 1
    assert len(found.problems) == 1


def test_reading_leaves_the_collector_as_it_was() -> None:
    gc.disable()
    try:
        parse(GOOD)
        assert not gc.isenabled()
    finally:
        gc.enable()
    parse("a: [")
    assert gc.isenabled()


def test_resources_from_code_have_no_line() -> None:
    (loaded,) = parse(GOOD).resources
    assert (
        str(LoadedResource.from_program(loaded.resource, loaded.kind).problem("spec", "x"))
        == "<program>: OpenModel/m: spec: x"
    )


@given(
    st.lists(
        st.integers(0, 99) | st.sampled_from(["spec", "env", "nvidia.com/gpu", "a b", "a.b", "x-y"]), min_size=1
    ).map(lambda p: ["spec", *p])
)
def test_paths_are_read_back(parts: list[str | int]) -> None:
    assert path_parts(field_path(parts)) == parts


def test_paths_look_as_in_kubernetes() -> None:
    assert field_path(["spec", "envs", 0, "valueFrom"]) == "spec.envs[0].valueFrom"
    assert field_path(["spec", "limits", "nvidia.com/gpu"]) == "spec.limits[nvidia.com/gpu]"


def test_a_problem_as_a_line_and_as_data() -> None:
    problem = Problem(file="f", line=1, kind="K", name="n", path="p", reason="r")
    assert str(problem) == "f:1: K/n: p: r"
    assert problem.as_dict()["severity"] == "error"


@pytest.mark.parametrize(
    ("metadata", "namespace"), [("{name: m, namespace: team}", "team"), ("{name: m}", ""), ("{namespace: 3}", "")]
)
def test_problems_of_invalid_objects_have_their_namespace(metadata: str, namespace: str) -> None:
    found = parse(GOOD.replace("{name: m}", metadata) + "\nunknownField: 1\n")
    assert found.problems
    assert {problem.namespace for problem in found.problems} == {namespace}


def test_a_namespace_without_effect_is_a_warning() -> None:
    found = parse(GOOD.replace("{name: m}", "{name: m, namespace: team}"))
    assert len(found.resources) == 1
    assert [(p.path, p.line, p.severity) for p in found.problems] == [("metadata.namespace", 3, "warning")]


def test_suggestions() -> None:
    assert did_you_mean("Revison", ["revision", "name"]) == "; did you mean 'revision'?"
    assert did_you_mean("zzz", ["revision"]) == ""


def test_nodes_have_lines() -> None:
    assert [node.start_mark.line for node in compose("a: 1\n---\nb: 2\n")] == [0, 2]
