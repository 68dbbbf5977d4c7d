"""Secrets of all kinds in every place where one can stand: no command shows one, and each change of one is seen.

``PLANTED_SECRETS=large`` plants all of them in every field by itself.
"""

import base64
import itertools
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from components.contract.texts.hidden import HIDDEN
from components.contract.texts.secrets import masked
from components.families import load
from components.fleet.objects import Object, copied
from components.fleet.options import Options
from components.plan.rendering import render_fleet
from components.plan.review.differences import differences
from tests.adopting.support import deployment as running_deployment
from tests.hostile import runs
from tests.hostile.planted_secrets import KINDS, PlantedSecret, planted_secrets
from tests.inspecting.objects import live
from toolkit.kube import Kube, KubeError
from workbench.adopting.declared import difference_text, missing_parts
from workbench.cli import app
from workbench.inspecting.formats import InspectFormat, write
from workbench.inspecting.inspection import inspect
from workbench.inspecting.snapshot import ClusterSnapshot

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(ROOT.glob("components/families/*/samples/*.yaml"))
IS_LARGE = os.environ.get("PLANTED_SECRETS") == "large"
NUMBER = 200
SECRETS = tuple(planted_secrets(NUMBER))
OTHERS = tuple(planted_secrets(NUMBER, seed=44))
"""The same secrets after each was changed."""
_IDENTITY = ("apiVersion", "kind", "metadata", "name", "namespace")


def variables(secrets: Iterable[PlantedSecret]) -> list[Object]:
    return [{"name": secret.name, "value": secret.value} for secret in secrets]


def arguments(secrets: Iterable[PlantedSecret]) -> list[str]:
    """Return the secrets as arguments of their own, joined with a flag, and within a script."""
    words: list[str] = []
    for index, secret in enumerate(secrets):
        flag = f"--extra-{index}"
        words += [flag, secret.value] if index % 2 else [f"{flag}={secret.value}"]
    return words


def script(secrets: Iterable[PlantedSecret]) -> str:
    lines = [f"export {secret.name}={json.dumps(secret.value)}" for secret in secrets]
    return "\n".join(["set -e", *lines, *(f"run {secret.value!r}" for secret in secrets), "exec serve"])


def container(secrets: Iterable[PlantedSecret]) -> Object:
    secrets = tuple(secrets)
    probe = {"httpGet": {"path": "/", "port": 8080, "httpHeaders": variables(secrets[:3])}}
    return {
        "name": "side",
        "image": "ghcr.io/acme/side:v1",
        "command": ["sh", "-c", script(secrets)],
        "args": arguments(secrets),
        "env": variables(secrets),
        "livenessProbe": probe,
        "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", script(secrets)]}}},
    }


def manifests(secrets: Iterable[PlantedSecret], *, valid: bool = True) -> list[Object]:
    """Return manifests of every family, and of Kubernetes itself, with the secrets where texts of users stand.

    Args:
        secrets: The secrets.
        valid: Whether engines get only flags that they know, so that everything is planned.
    """
    secrets = tuple(secrets)
    line = ["--api-key", secrets[0].value, "--seed", "1"] if valid else arguments(secrets)
    notes = {f"example.com/note-{index}": secret.value for index, secret in enumerate(secrets) if secret.is_random}
    files = {f"{index}.conf": f"{secret.name} {secret.value}\n" for index, secret in enumerate(secrets)}
    pod = {"spec": {"containers": [container(secrets)]}}
    hub = {"modelHub": {"modelID": "Qwen/Qwen2-0.5B", "name": "Huggingface"}}
    return [
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": "m", "annotations": notes},
            "spec": {"familyName": "qwen", "source": hub},
        },
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Playground",
            "metadata": {"name": "p", "annotations": notes},
            "spec": {
                "modelClaim": {"modelName": "m"},
                "backendRuntimeConfig": {"args": line, "envs": variables(secrets)},
            },
        },
        {
            "apiVersion": "inference.llmkube.dev/v1alpha1",
            "kind": "Model",
            "metadata": {"name": "gguf"},
            "spec": {"source": next(s.value for s in secrets if s.kind.startswith("query token")), "format": "gguf"},
        },
        {
            "apiVersion": "inference.llmkube.dev/v1alpha1",
            "kind": "InferenceService",
            "metadata": {"name": "i"},
            "spec": {
                "modelRef": "gguf",
                "env": variables(secrets),
                "extraArgs": line,
                "podAnnotations": notes,
            },
        },
        {
            "apiVersion": "workload.serving.volcano.sh/v1alpha1",
            "kind": "ModelServing",
            "metadata": {"name": "s"},
            "spec": {
                "replicas": 1,
                "schedulerName": "volcano",
                "template": {"roles": [{"name": "r", "replicas": 1, "workerReplicas": 0, "entryTemplate": pod}]},
            },
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "plain", "annotations": notes},
            "spec": {
                "selector": {"matchLabels": {"app": "plain"}},
                "template": {"metadata": {"labels": {"app": "plain"}}, **pod},
            },
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": files},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "k"},
            "stringData": files,
            "data": {name: base64.b64encode(text.encode()).decode() for name, text in files.items()},
        },
    ]


def assert_hidden(text: str, secrets: Iterable[PlantedSecret], where: str) -> None:
    shown = [secret for secret in secrets if _is_in(secret.secret, text)]
    first = f": {text[max(0, text.find(shown[0].secret) - 200) :][:500]}" if shown else ""
    assert not shown, f"{where} shows {', '.join(secret.kind for secret in shown[:9])} ({len(shown)}){first}"


def _is_in(secret: str, text: str) -> bool:
    """Whether a text contains a secret, also as base64, or its first half, as a truncated message would."""
    half = secret[: max(12, len(secret) // 2)]
    return half in text or base64.b64encode(secret.encode()).decode()[:-4] in text


def call(folder: Path, secrets: Iterable[PlantedSecret], *command: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        printed = runs.run(*command)
    text = printed.stdout + printed.stderr
    assert "unexpected error" not in text
    assert_hidden(text, secrets, " ".join(command))
    return text


PLAN = ("plan", "models.yaml", "--stack", "none", "--cluster")
COMMANDS = [
    ("validate", "m.yaml", "--other-kinds", "apply"),
    ("validate", "m.yaml", "--output", "json"),
    *((*PLAN, "none", "--details", "--output", form) for form in ("text", "markdown", "html", "json", "sarif")),
    *(
        ("explain", title, "models.yaml", "--all")
        for title in ("Playground/p", "InferenceService/i", "ModelServing/s")
    ),
    ("render", "m.yaml", "--other-kinds", "apply"),
    ("dev", "defaults", "models.yaml"),
    ("migrate", "m.yaml", "--to-family", "llmkube", "--lossy"),
]


@pytest.mark.parametrize("valid", [True, False], ids=["valid", "invalid"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_shows_a_secret(tmp_path: Path, command: tuple[str, ...], *, valid: bool) -> None:
    secrets = SECRETS if IS_LARGE else SECRETS[: len(KINDS)]
    write_manifests(tmp_path, manifests(secrets, valid=valid))
    text = call(tmp_path, secrets, *command)
    assert len(text) > 200
    if valid and command[0] in ("explain", "render", "dev", "migrate"):
        assert len(HIDDEN.findall(text)) >= len(KINDS)


def write_manifests(folder: Path, bodies: Iterable[Object]) -> None:
    """Write all manifests to one file, those of models to another, and those of each family to one of its own."""
    groups = {
        "m": [""],
        "models": ["llmaz", "llmkube", "volcano"],
        "llmaz": ["llmaz"],
        "llmkube": ["llmkube"],
        "kthena": ["volcano"],
    }
    bodies = list(bodies)
    for file, words in groups.items():
        part = [body for body in bodies if any(word in body["apiVersion"] for word in words)]
        (folder / f"{file}.yaml").write_text(yaml.safe_dump_all(part))


def planted_everywhere(value: Any, secrets: Iterator[PlantedSecret], used: list[PlantedSecret]) -> Any:
    """Return a manifest with a secret in the place of every text but its identity."""
    if isinstance(value, dict):
        return {
            key: inner if key in _IDENTITY else planted_everywhere(inner, secrets, used)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [planted_everywhere(item, secrets, used) for item in value]
    if not isinstance(value, str):
        return value
    used.append(next(secrets))
    return used[-1].value


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_error_about_a_field_shows_a_secret(tmp_path: Path, sample: Path) -> None:
    """Names and references are shown as they are written, so that only what looks like a secret is hidden in them."""
    secrets = itertools.cycle([secret for secret in SECRETS if secret.is_random])
    used: list[PlantedSecret] = []
    bodies = [planted_everywhere(body, secrets, used) for body in yaml.safe_load_all(sample.read_text())]
    assert used
    (tmp_path / "m.yaml").write_text(yaml.safe_dump_all(bodies))
    for command in (("validate", "m.yaml"), ("validate", "m.yaml", "--output", "json"), ("render", "m.yaml")):
        call(tmp_path, used, *command)


def plain(secrets: Iterable[PlantedSecret]) -> Object:
    body = running_deployment("chat", "models")
    body["spec"]["template"]["spec"]["containers"].append(container(secrets))
    return body


def test_no_inspection_shows_a_secret() -> None:
    bodies = [live(body) for body in (plain(SECRETS), *manifests(SECRETS)[-2:])]
    for body in bodies:
        body["metadata"].setdefault("namespace", "models")
    inspection = inspect(ClusterSnapshot(tuple(bodies), source="https://cluster"))
    for form in InspectFormat:
        assert_hidden(write(inspection, form), SECRETS, f"inspect --output {form}")


def test_no_difference_of_an_adoption_shows_a_secret_and_each_is_listed() -> None:
    before, after = plain(SECRETS), plain(OTHERS)
    lines = [difference_text(path, old, new, kind="Deployment") for path, old, new in missing_parts(before, after)]
    assert_hidden("\n".join(lines), (*SECRETS, *OTHERS), "adopt")
    assert len([line for line in lines if ".env[" in line]) == NUMBER
    assert all(line.partition(": ")[2].count("[hidden:") == 2 for line in lines if ".env[" in line)


@pytest.mark.parametrize("may_patch", [False, True], ids=["read only", "dry run"])
@pytest.mark.parametrize("output", ["text", "json"])
def test_no_difference_of_a_cluster_shows_a_secret_and_each_is_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, output: str, *, may_patch: bool
) -> None:
    models = [body for body in manifests(SECRETS) if body["kind"] in ("OpenModel", "Playground")]
    (tmp_path / "m.yaml").write_text(yaml.safe_dump_all(models))
    planned = render_fleet(load([tmp_path / "m.yaml"]).resources, Options(namespace="default")).objects
    changed = dict(zip((s.value for s in SECRETS), (s.value for s in OTHERS), strict=True))
    server = Server([replaced(copied(body), changed) for body in planned], may_patch=may_patch)
    monkeypatch.setattr(Kube, "from_kubeconfig", lambda *_: server)
    command = ["diff", str(tmp_path / "m.yaml"), "--stack", "none", "--kubeconfig", "k", "--output", output]
    ran = CliRunner().invoke(app, [*command, *(["--details"] if output == "text" else [])])
    assert ran.exit_code == 1, ran.output
    assert_hidden(ran.output, (*SECRETS, *OTHERS), " ".join(command))
    assert len(HIDDEN.findall(ran.output)) >= 2 * NUMBER


class Server:
    """An API server with these objects."""

    def __init__(self, bodies: Iterable[Object], *, may_patch: bool) -> None:
        self.bodies = {(body["kind"], body["metadata"]["name"]): body for body in bodies}
        self.may_patch = may_patch

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None: ...

    def get(self, _api_version: str, kind: str, name: str, _namespace: str | None = None) -> Object:
        return self.bodies[kind, name]

    def apply(self, body: Object, **_: object) -> Object:
        if not self.may_patch:
            raise KubeError(403, "Forbidden", "may not patch")
        applied: Object = copied(body)
        return applied


def replaced(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: replaced(inner, texts) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(item, texts) for item in value]
    return texts.get(value, value) if isinstance(value, str) else value


def _places(secret: PlantedSecret) -> dict[str, Any]:
    one = (secret,)
    return {
        "variable": {"env": variables(one)},
        "variables as a map": {"env": {secret.name: secret.value}},
        "header": {"httpGet": {"httpHeaders": variables(one)}},
        "route": {"filters": [{"requestHeaderModifier": {"set": variables(one)}}]},
        "flag": {"args": ["--extra", secret.value]},
        "joined flag": {"args": [f"--extra={secret.value}"]},
        "argument": {"args": ["run", secret.value]},
        "script": {"command": ["sh", "-c", script(one)]},
        "file": {"kind": "ConfigMap", "data": {"a": f"{secret.name} {secret.value}"}},
        "encoded file": {"kind": "ConfigMap", "binaryData": {"a": base64.b64encode(secret.value.encode()).decode()}},
        "Secret": {"kind": "Secret", "stringData": {"a": secret.value}},
        "encoded Secret": {"kind": "Secret", "data": {"a": base64.b64encode(secret.value.encode()).decode()}},
        "user data": {"userData": f"#!/bin/sh\nexport {secret.name}={secret.value}"},
    }


@pytest.mark.parametrize(("before", "after"), [*zip(SECRETS, OTHERS, strict=True)], ids=[s.kind for s in SECRETS])
def test_a_changed_secret_is_seen_and_not_shown(before: PlantedSecret, after: PlantedSecret) -> None:
    old, new = _places(before), _places(after)
    for place in old:
        shown = [masked(each[place]) for each in (old, new)]
        assert_hidden(json.dumps(shown), (before, after), place)
        assert list(differences(*shown)), f"{place} of {before.kind}: the change is not seen"
        assert masked(shown[0]) == shown[0]


def test_a_review_lists_the_changed_secrets(tmp_path: Path) -> None:
    git: Callable[..., object] = lambda *words: subprocess.run(  # noqa: E731
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words], cwd=tmp_path, check=True
    )
    secrets, others = SECRETS[: len(KINDS)], OTHERS[: len(KINDS)]
    git("init", "--quiet", "--initial-branch", "main")
    write_manifests(tmp_path, manifests(secrets))
    git("add", ".")
    git("commit", "--quiet", "--message", "base")
    git("checkout", "--quiet", "-b", "change")
    write_manifests(tmp_path, manifests(others))
    git("commit", "--quiet", "--all", "--message", "change")
    both = (*secrets, *others)
    for form in ("text", "markdown", "json", "html"):
        text = call(tmp_path, both, *PLAN, "none", "--base", "main", "--details", "--output", form)
        # Texts list the first changes of a workload and count the others.
        least = 2 * len(KINDS) if form in ("json", "html") else len(KINDS)
        assert len(set(HIDDEN.findall(text))) >= least, form
