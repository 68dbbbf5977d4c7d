"""Objects that existed before the stack: imported, retained, and otherwise registered as always."""

import json
import shutil
from pathlib import Path
from typing import Any

import pulumi
import pytest

from stacks.adopting import adopted_name
from tests.stacks.test_environment import GOOD, ROOT, run

SERVICE = "kubernetes:core/v1:Service::fleet-models/opt-lb"
DEPLOYMENT = "kubernetes:apps/v1:Deployment::fleet-models/opt"
NAMESPACE = "kubernetes:core/v1:Namespace::fleet-models"
PROVIDER = "pulumi:providers:kubernetes::cluster"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ROOT / "Pulumi.yaml", tmp_path)
    (tmp_path / "kubeconfig").write_text("not read by the program")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def adopted(*objects: str, **more: Any) -> str:
    return json.dumps({"objects": list(objects), **more})


def test_listed_objects_are_imported_and_retained(project: Path) -> None:
    names = ("apps/Deployment/models/opt", "core/Namespace/models", "core/Service/models/opt-lb")
    graph = run(project, GOOD, adopted=adopted(*names))
    imports = {
        entry.key: (entry.registration.import_id, entry.registration.retain_on_delete)
        for entry in graph.graph
        if entry.registration.import_id
    }
    assert imports == {
        DEPLOYMENT: ("models/opt", True),
        NAMESPACE: ("models", True),
        SERVICE: ("models/opt-lb", True),
    }


def test_everything_else_is_registered_as_without_imports(project: Path) -> None:
    without, with_imports = run(project, GOOD), run(project, GOOD, adopted=adopted("core/Namespace/models"))
    for key in (DEPLOYMENT, SERVICE):
        assert with_imports[key] == without[key]
    assert with_imports[NAMESPACE].inputs == without[NAMESPACE].inputs
    assert with_imports[NAMESPACE].parent == without[NAMESPACE].parent


def test_adopted_objects_need_not_be_retained(project: Path) -> None:
    graph = run(project, GOOD, adopted=adopted("core/Namespace/models", retain=False))
    assert graph[NAMESPACE].registration.retain_on_delete is None


def test_the_address_of_a_service_is_not_compared(project: Path) -> None:
    graph = run(project, GOOD, adopted=adopted("core/Service/models/opt-lb", "apps/Deployment/models/opt"))
    assert graph[SERVICE].registration.ignore_changes == ("spec.clusterIP",)
    assert graph[DEPLOYMENT].registration.ignore_changes == ()


@pytest.mark.parametrize(("objects", "forced"), [(["core/Namespace/models"], "true"), ([], None)])
def test_fields_of_former_managers_are_taken_over(project: Path, objects: list[str], forced: str | None) -> None:
    graph = run(project, GOOD, adopted=adopted(*objects))
    assert graph[PROVIDER].inputs.get("enablePatchForce") == forced


def test_omitted_objects_are_not_created_and_no_endpoint_is_at_them(project: Path) -> None:
    graph = run(project, GOOD, adopted=adopted("core/Namespace/models", omitted=["core/Service/models/opt-lb"]))
    assert SERVICE not in [entry.key for entry in graph.graph]
    assert DEPLOYMENT in [entry.key for entry in graph.graph]
    assert graph.exports["endpoints"] == {}


def test_a_name_of_nothing_is_reported(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    run(project, GOOD, adopted=adopted("core/Service/models/opt-lb", "core/Service/models/gone"))
    assert "adopted.objects: core/Service/models/gone: not among the objects of this stack" in caplog.text


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models"}}, "core/Namespace/models"),
        (
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "b"}},
            "apps/Deployment/b/a",
        ),
        (
            {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": "qwen"}},
            "llmaz.io/OpenModel/qwen",
        ),
    ],
)
def test_the_name_of_an_object(body: dict[str, Any], name: str) -> None:
    assert adopted_name(body) == name


@pytest.mark.parametrize("wrong", ["Deployment", "apps/deployment", "apps/Deployment/a/b/c", "apps/Deployment/ /a"])
def test_other_names_are_refused(project: Path, wrong: str) -> None:
    with pytest.raises(pulumi.RunError, match=r"adopted\.objects"):
        run(project, GOOD, adopted=adopted(wrong))
