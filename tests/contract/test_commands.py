"""``validate``, ``defaults``, ``crds`` and ``schema`` on the command line."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from components.contract.schema.crds import crd
from components.contract.schema.jsonschema import json_schema
from components.families import kinds
from tests import preloaded
from tests.contract.documents import DOCUMENTS

ROOT = Path(__file__).parents[2]
ALONE = "--alone"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return preloaded.run(*arguments, env=os.environ)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.yaml"
    path.write_text(yaml.dump_all(DOCUMENTS))
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.yaml"
    path.write_text(
        "apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nmetadata: {name: m}\nspec:\n  famly: x\n  source: {uri: x}\n"
    )
    return path


def test_of_clean_files_only_the_number_is_said(good: Path) -> None:
    done = run("validate", ALONE, good)
    said = f"{len(DOCUMENTS)} resources in 1 file: 0 errors\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_problems_have_a_place_a_cause_and_a_remedy(bad: Path) -> None:
    done = run("validate", ALONE, bad)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        f"error {bad}:4",
        f"error {bad}:5",
        f"error {bad}:6",
        "1 resource in 1 file: 3 errors",
    ]
    assert lines[lines.index(f"error {bad}:5") + 1] == "  OpenModel/m spec.famly: unknown field"
    assert "  help: did you mean 'familyName'?" in lines


def test_one_line_per_problem(bad: Path) -> None:
    done = run("validate", ALONE, "--output", "lines", bad)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line.removeprefix(f"{bad}:").split(": ")[:3] for line in lines] == [
        ["4", "OpenModel/m", "spec.familyName"],
        ["5", "OpenModel/m", "spec.famly"],
        ["6", "OpenModel/m", "spec.source.uri"],
    ]


def test_json(bad: Path, good: Path) -> None:
    done = run("validate", ALONE, "--output", "json", bad)
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert [set(p) for p in found] == [
        {"file", "line", "kind", "name", "path", "reason", "severity", "rule", "namespace", "ignored"}
    ] * 3
    assert {k: found[1][k] for k in ("file", "line", "kind", "name", "path", "severity")} == {
        "file": str(bad), "line": 5, "kind": "OpenModel", "name": "m", "path": "spec.famly", "severity": "error",
    }  # fmt: skip
    done = run("validate", ALONE, "--output", "json", good)
    assert (done.returncode, json.loads(done.stdout)) == (0, [])


NAMESPACES = """
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: written, namespace: team}
spec: {replicas: many}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: omitted}
spec: {replicas: many}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: twice, namespace: team, namespace: team}
spec: {modelClaim: {modelName: m}}
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: cluster-scoped}
spec: {}
---
apiVersion: v1
kind: Secret
metadata: {name: other, namespace: team}
"""


@pytest.mark.parametrize(
    ("options", "default"), [((), "default"), ((ALONE,), "default"), (("--namespace", "models"), "models")]
)
def test_json_has_the_namespace_of_each_object(options: tuple[str, ...], default: str, tmp_path: Path) -> None:
    file = tmp_path / "models.yaml"
    file.write_text(NAMESPACES)
    found = json.loads(run("validate", "--output", "json", *options, file).stdout)
    expected = {"written": "team", "omitted": default, "twice": "team", "cluster-scoped": "", "other": "team"}
    assert {problem["name"]: problem["namespace"] for problem in found} == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "--stack", "none"),
        ("validate", "--output", "xml", "x"),
        ("crds", "Pod"),
        ("schema", "Pod"),
        ("validate", "--nope", "x"),
    ],
)
def test_wrong_usage_is_2(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["crds", "schema"])
@pytest.mark.parametrize(
    ("kind", "release", "reason"),
    [
        ("ModelPool", "llmkube=v0.9.0", "LLMKube v0.9.0 has no kind ModelPool; v0.9.16 to v0.9.19 have it"),
        ("AutoscalingPolicyBinding", "kthena=v1.0.0", "Kthena v1.0.0 has no kind AutoscalingPolicyBinding; 97b99f41"),
    ],
)
def test_a_release_without_the_kind_is_wrong_usage(command: str, kind: str, release: str, reason: str) -> None:
    done = run(command, kind, "--release", release)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr


def test_an_absent_file_is_a_problem(tmp_path: Path) -> None:
    done = run("validate", ALONE, tmp_path / "absent.yaml")
    assert done.returncode == 1
    assert "no such file" in done.stdout


def test_defaults(good: Path, bad: Path) -> None:
    done = run("defaults", good)
    assert done.returncode == 0, done.stderr
    written = list(yaml.safe_load_all(done.stdout))
    assert [d["kind"] for d in written] == [d["kind"] for d in DOCUMENTS]
    assert written[0]["spec"]["source"]["modelHub"]["name"] == "Huggingface"
    done = run("defaults", bad)
    assert (done.returncode, done.stdout) == (1, "")
    assert "spec.famly" in done.stderr


def test_crds_and_schemas() -> None:
    done = run("crds", "Playground")
    assert list(yaml.safe_load_all(done.stdout)) == [crd(kinds().by_name("Playground"))]
    assert len(list(yaml.safe_load_all(run("crds").stdout))) == 15  # those of the default releases
    later = yaml.safe_load_all(run("crds", "--release", "llmkube=v0.9.19").stdout)
    assert len(list(later)) == 19
    done = run("schema", "Playground", "OpenModel")
    assert json.loads(done.stdout) == {
        "inference.llmaz.io/v1alpha1/Playground": json_schema(kinds().by_name("Playground")),
        "llmaz.io/v1alpha1/OpenModel": json_schema(kinds().by_name("OpenModel")),
    }


@pytest.mark.parametrize(
    ("kind", "plural", "scope", "short", "scale"),
    [
        ("OpenModel", "openmodels", "Cluster", "om", None),
        ("BackendRuntime", "backendruntimes", "Cluster", "br", None),
        ("Playground", "playgrounds", "Namespaced", "pl", ".status.selector"),
        ("Service", "services", "Namespaced", "isvc", ".status.selector"),
        ("LeaderWorkerSet", "leaderworkersets", "Namespaced", "lws", ".status.hpaPodSelector"),
        ("InferenceService", "inferenceservices", "Namespaced", "isvc", None),
        ("Model", "models", "Namespaced", "mdl", None),
    ],
)
def test_how_kinds_are_served(kind: str, plural: str, scope: str, short: str, scale: str | None) -> None:
    """contract/README.md, top-level kinds; LWS spec 1.1."""
    spec = crd(kinds().by_name(kind))["spec"]
    assert (spec["names"]["plural"], spec["scope"], spec["names"]["shortNames"]) == (plural, scope, [short])
    subresources = spec["versions"][0]["subresources"]
    assert subresources["status"] == {}
    assert subresources.get("scale", {}).get("labelSelectorPath") == scale


def test_an_inference_service_scales_without_a_selector() -> None:
    """contract/README.md; LLMKube spec 1.2."""
    (version,) = crd(kinds().by_name("InferenceService"))["spec"]["versions"]
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    assert version["subresources"]["scale"] == paths
    assert "scale" not in crd(kinds().by_name("Model"))["spec"]["versions"][0]["subresources"]
