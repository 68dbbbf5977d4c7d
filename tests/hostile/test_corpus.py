"""The corpus of secrets, planted in the kinds of every API: no command shows one, and none is left in a file."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.texts.corpus import FILES, LOOKALIKES, SCRIPTS, SECRETS, STRUCTURES, D, S, script
from tests.fleets import open_model, playground
from tests.hostile import runs
from tests.hostile.test_planted import Workbench
from workbench.engine.program.graph import _with_marked_secrets
from workbench.engine.program.resources import Registration
from workbench.engine.values import seal

PLANTED = (S, D, "correct horse battery", "aHVudGVyMjp6YW56aWJhcg", "aB3aB3")
GPU = {"node.kubernetes.io/instance-type": "g6.2xlarge"}


def container(name: str, text: str = "sleep 1", **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "image": "example.com/x:1",
        "command": script(text),
        "lifecycle": {"preStop": {"exec": {"command": script(text)}}},
        "resources": {"requests": {"cpu": "1m", "memory": "16Mi"}, "limits": {"memory": "16Mi"}},
        **fields,
    }


def pod() -> dict[str, Any]:
    """A pod with a container for each script, and every file in a variable."""
    scripts = [container(f"c{number}", text) for number, text in enumerate(SCRIPTS.values())]
    files = [{"name": f"FILE_{number}", "value": text} for number, text in enumerate(FILES.values())]
    probe = {"httpGet": {"port": 8080, "httpHeaders": [{"name": "Authorization", "value": S}]}}
    words = ["curl", "-u", f"me:{S}", "http://localhost"]
    last = {**container("last", env=[*files, {"name": "HF_TOKEN", "value": S}]), "readinessProbe": probe}
    return {
        "nodeSelector": GPU,
        "containers": [*scripts, {**last, "command": words}],
    }


def notes() -> dict[str, str]:
    """Every file in an annotation, and what kubectl applied last."""
    applied = STRUCTURES["the last applied configuration"]["metadata"]["annotations"]
    return {**applied, **{f"example.com/f{number}": text for number, text in enumerate(FILES.values())}}


VOLCANO, LLMKUBE = "workload.serving.volcano.sh/v1alpha1", "inference.llmkube.dev/v1alpha1"
SIGNED = f"https://bucket.s3.amazonaws.com/m.gguf?X-Amz-Expires=60&X-Amz-Signature={S}"
KINDS: dict[str, list[dict[str, Any]]] = {
    "LeaderWorkerSet": [
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "p", "annotations": notes()},
            "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": pod()}}},
        }
    ],
    "ModelServing": [
        {
            "apiVersion": VOLCANO,
            "kind": "ModelServing",
            "metadata": {"name": "p", "annotations": notes()},
            "spec": {
                "replicas": 1,
                "schedulerName": "volcano",
                "template": {
                    "roles": [{"name": "r", "replicas": 1, "workerReplicas": 0, "entryTemplate": {"spec": pod()}}]
                },
            },
        }
    ],
    "Service": [
        open_model(),
        {
            "apiVersion": "inference.llmaz.io/v1alpha1",
            "kind": "Service",
            "metadata": {"name": "p", "annotations": notes()},
            "spec": {
                "modelClaims": {"models": [{"name": open_model()["metadata"]["name"], "role": "main"}]},
                "workloadTemplate": {
                    "workerTemplate": {
                        "spec": {**pod(), "containers": [*pod()["containers"], container("model-runner")]}
                    }
                },
            },
        },
    ],
    "Playground": [
        open_model(),
        {
            **playground(
                name="p",
                backendRuntimeConfig={
                    "args": ["--api-key", S, "--served-model-name", f"https://me:{S}@host/x"],
                    "envs": [
                        {"name": "HF_TOKEN", "value": S},
                        *({"name": f"FILE_{n}", "value": text} for n, text in enumerate(FILES.values())),
                    ],
                },
            )
        },
    ],
    "InferenceService": [
        {
            "apiVersion": LLMKUBE,
            "kind": "Model",
            "metadata": {"name": "m", "annotations": notes()},
            "spec": {"source": SIGNED, "format": "gguf", "hardware": {"accelerator": "cpu"}},
        },
        {
            "apiVersion": LLMKUBE,
            "kind": "InferenceService",
            "metadata": {"name": "p", "annotations": notes()},
            "spec": {
                "modelRef": "m",
                "replicas": 1,
                "env": [{"name": "HF_TOKEN", "value": S}, {"name": "CONFIG", "value": FILES["YAML"]}],
                "extraArgs": ["--api-key", S],
            },
        },
    ],
    "ModelBooster": [
        {
            "apiVersion": VOLCANO,
            "kind": "ModelBooster",
            "metadata": {"name": "p", "annotations": notes()},
            "spec": {
                "backends": [
                    {
                        "name": "b",
                        "type": "vLLM",
                        "modelURI": "hf://Qwen/Qwen3-8B",
                        "minReplicas": 1,
                        "maxReplicas": 1,
                        "env": [{"name": "HF_TOKEN", "value": S}, {"name": "ENDPOINT", "value": SIGNED}],
                        "workers": [
                            {
                                "image": "vllm/vllm-openai:v0.20.0",
                                "replicas": 1,
                                "pods": 1,
                                "config": {"api-key": S, "max-model-len": 8192},
                                "resources": {"limits": {"nvidia.com/gpu": "1"}},
                                "affinity": {
                                    "nodeAffinity": {
                                        "requiredDuringSchedulingIgnoredDuringExecution": {
                                            "nodeSelectorTerms": [
                                                {
                                                    "matchExpressions": [
                                                        {
                                                            "key": "node.kubernetes.io/instance-type",
                                                            "operator": "In",
                                                            "values": ["g6e.2xlarge"],
                                                        }
                                                    ]
                                                }
                                            ]
                                        }
                                    }
                                },
                            }
                        ],
                    }
                ]
            },
        }
    ],
}
OTHERS = [
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "files", "annotations": notes(), "labels": {"example.com/api-token": S}},
        "data": {f"file-{number}": text for number, text in enumerate(FILES.values())},
    },
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"plain": S}},
]
READING = (
    *(("validate",), ("validate", "--output", "json"), ("defaults",), ("render",), ("render", "--expand")),
    *(("render", "--literal"), ("size", "--model", "m", "--rate", "10", "--output-tokens", "10")),
    ("simulate", "--binding", "p", "--metrics", "trace.csv"),
)


def assert_hidden(printed: runs.Printed, what: str) -> None:
    text = printed.stdout + printed.stderr
    for secret in PLANTED:
        at = text.find(secret)
        assert at < 0, f"{what} shows {secret}: {text[max(0, at - 300) : at + 60]}"


@pytest.mark.parametrize("kind", KINDS)
def test_commands_that_read_manifests(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_text("time,load\n0,1\n")
    (tmp_path / "models.yaml").write_text(yaml.safe_dump_all(KINDS[kind]))
    named = [("explain", f"{body['kind']}/{body['metadata']['name']}", "--all") for body in KINDS[kind]]
    for command in (*READING, *named):
        first, *rest = command
        where = [rest.pop(0), "models.yaml"] if first == "explain" else ["models.yaml"]
        printed = runs.run(first, *where, *rest)
        assert printed.code != 70
        assert_hidden(printed, " ".join(command))
    rendered = runs.run("render", "models.yaml")
    assert rendered.code == 0, f"the manifests are right, so that all of it is rendered: {rendered.stderr}"


def broken(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The same with a secret where the API expects something else."""
    spec = body["spec"]
    return [
        {**body, "spec": {**spec, "replicas": {"token": S}}},
        {**body, "spec": {**spec, "replicas": f"token: {S}"}},
        {**body, "spec": {**spec, "password": {"inner": {S: None}}}},
        {**body, "spec": {**spec, "unknown": json.dumps({"kind": "Secret", "data": {"a": S}})}},
        {**body, "metadata": {**body["metadata"], "annotations": {"example.com/token": {"secure": S}}}},
        {**body, "metadata": {**body["metadata"], "labels": {"api-token": f"{S} !"}}},
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_messages_about_wrong_manifests(kind: str, tmp_path: Path) -> None:
    *before, body = KINDS[kind]
    for number, wrong in enumerate(broken(body)):
        models = tmp_path / "models.yaml"
        models.write_text(yaml.safe_dump_all([*before, wrong]))
        for command in (["validate"], ["validate", "--output", "json"], ["render"], ["defaults"]):
            printed = runs.run(command[0], str(models), *command[1:])
            assert printed.code == 1, f"{number} {command}"
            assert_hidden(printed, f"{number} {command}")


def test_plan_and_preview(tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []
    for number, each in enumerate(KINDS.values()):
        for body in each:
            # The keys are there to be hidden, not to be used.
            annotations = {
                **body["metadata"].get("annotations", {}),
                "ignore.inference-platform/access-engine-key": "not used",
            }
            bodies.append(
                {**body, "metadata": {**body["metadata"], "namespace": f"n{number}", "annotations": annotations}}
            )
    bodies = [body for body in bodies if body["kind"] != "OpenModel"] + [open_model()]
    workbench = Workbench(tmp_path)
    workbench.models.write_text(yaml.safe_dump_all([*bodies, *OTHERS]))
    workbench.project(".workbench/kubeconfig", otherKinds="apply")
    for command in (
        *(("preview", "--engine", "local", "--offline", "--output", form) for form in ("text", "json")),
        *(("plan", "--stack", "local", "--output", form) for form in ("text", "json", "markdown", "html", "sarif")),
        ("render", "--stack", "local"),
    ):
        text = workbench.call(*command)
        assert_hidden(runs.Printed(0, text, ""), " ".join(command))
    for file in tmp_path.rglob("*"):
        if file.is_file() and file != workbench.models and "stacks" not in file.relative_to(tmp_path).parts[:1]:
            assert_hidden(runs.Printed(0, file.read_bytes().decode(errors="replace"), ""), str(file))


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: case.label)
def test_the_state_of_the_local_engine_keeps_digests_alone(case: Any) -> None:
    value = case.value if isinstance(case.value, dict) else {"spec": {"command": case.value}}
    body = {"apiVersion": "example.com/v1", "kind": "Thing", **value}
    body["metadata"] = {"name": "x", **value.get("metadata", {})}
    token = "kubernetes:example.com/v1:Thing"
    registration = Registration(type=token, name="x", custom=True, inputs=body)
    stored = json.dumps(seal(dict(_with_marked_secrets(registration, frozenset())), b"k" * 32))
    for secret in case.secrets:
        assert secret not in stored


def test_what_is_rendered_can_be_applied(tmp_path: Path) -> None:
    """``render --show-secrets`` prints values that resemble secrets unchanged, without a warning about secrets."""
    scripts = [value for value in LOOKALIKES.values() if isinstance(value, list)]
    containers = [container(f"c{number}", words[2]) for number, words in enumerate(scripts)]
    names = [name for name in LOOKALIKES if name.startswith("the variable ")]
    containers[0]["env"] = [LOOKALIKES[name]["env"][0] for name in names]
    body = json.loads(json.dumps(KINDS["LeaderWorkerSet"][0]))
    body["metadata"] = {"name": "p"}
    body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"] = {"nodeSelector": GPU, "containers": containers}
    models = tmp_path / "models.yaml"
    models.write_text(yaml.safe_dump(body))
    printed = runs.run("render", "--show-secrets", str(models))
    assert printed.code == 0, printed.stderr
    assert "looks like a secret" not in printed.stderr
    (made,) = [each for each in yaml.safe_load_all(printed.stdout) if each["kind"] == "LeaderWorkerSet"]
    shown = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["containers"]
    assert [each["command"] for each in shown] == scripts
    assert [each for each in shown[0]["env"] if each["value"] == "blue7Green"] == containers[0]["env"]
