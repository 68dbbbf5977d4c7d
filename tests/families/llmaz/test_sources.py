"""llmaz spec 2.2 and 2.6: where the engine finds a model, and what brings it there."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from components.fleet.options import ModelCache
from tests.fleets import (
    container,
    fleet_of,
    objects,
    open_model,
    playground,
    pod,
    runner,
    runtime,
    service,
    the_error,
)

SKIP = {"llmaz.io/skip-model-loader": "true"}
PRINTS = runtime(recommendedConfigs=[{"name": "default", "args": ["{{ .ModelPath }}", "{{ .ModelName }}"]}])
OSS = "OSS://bucket.oss-cn-hangzhou.aliyuncs.com"


def own(**spec: Any) -> dict[str, Any]:
    return {"backendRuntimeConfig": {"backendName": "own"}, **spec}


def secret(name: str, secret_name: str, key: str) -> dict[str, Any]:
    reference = {"name": secret_name, "key": key, "optional": True}
    return {"name": name, "valueFrom": {"secretKeyRef": reference}}


HUB_TOKENS = [secret(name, "modelhub-secret", "HF_TOKEN") for name in ("HUGGING_FACE_HUB_TOKEN", "HF_TOKEN")]
OSS_KEYS = [secret(name, "oss-access-secret", name) for name in ("OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET")]
AWS_KEYS = [secret(name, "aws-access-secret", name) for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")]


@pytest.mark.parametrize(
    ("source", "path", "name"),
    [
        ("Qwen/Qwen2-7B", "/workspace/models/models--Qwen--Qwen2-7B", "m"),
        ({"modelHub": {"modelID": "a/b", "filename": "b.q4.gguf"}}, "/workspace/models/b.q4.gguf", "m"),
        ({"modelHub": {"modelID": "a/b", "filename": "sub/b.gguf"}}, "/workspace/models/sub/b.gguf", "m"),
        ({"modelHub": {"modelID": "a/b"}, "uri": "host:///x"}, "/workspace/models/models--a--b", "m"),
        (f"{OSS}/models/Qwen2-7B", "/workspace/models/models--Qwen2-7B", "m"),
        (f"{OSS}/models/Qwen2.5-7B", "/workspace/models/models--Qwen2.5-7B", "m"),
        (f"{OSS}/models/q.gguf", "/workspace/models/q.gguf", "m"),
        (f"{OSS}/models.gguf/Qwen2-7B", "/workspace/models/models--Qwen2-7B", "m"),
        ("host:///data/Qwen2", "/data/Qwen2", "m"),
        ("ollama://qwen2:0.5b", None, "qwen2:0.5b"),
    ],
)
def test_the_engine_is_told_path_and_name(source: Any, path: str | None, name: str) -> None:
    args = container(open_model(source=source), PRINTS, playground(**own()))["args"]
    assert args[1] == name
    if path:
        assert args[0] == path


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("Qwen/Qwen2-7B", "Qwen/Qwen2-7B"),
        ({"modelHub": {"modelID": "a/b", "filename": "b.gguf"}}, "a/b"),
        (f"{OSS}/models/Qwen2-7B", f"{OSS}/models/Qwen2-7B"),
        ("s3://bucket/q.gguf", "s3://bucket/q.gguf"),
        ("GCS://bucket/dir/m", "GCS://bucket/dir/m"),
    ],
)
def test_without_loader_the_engine_gets_what_was_written(source: Any, path: str) -> None:
    spec = pod(open_model(source=source), PRINTS, playground(annotations=SKIP, **own()))
    assert spec["containers"][0]["args"][0] == path
    assert "initContainers" not in spec
    assert "volumes" not in spec


@pytest.mark.parametrize("value", ["True", "1", "false", ""])
def test_only_the_word_true_skips_the_loader(value: str) -> None:
    note = {"llmaz.io/skip-model-loader": value}
    assert "initContainers" in pod(open_model(), PRINTS, playground(annotations=note, **own()))


@pytest.mark.parametrize(
    ("source", "env"),
    [("a/b", HUB_TOKENS), (f"{OSS}/m", OSS_KEYS), ("s3://b/m", AWS_KEYS), ("gcs://b/m", AWS_KEYS)],
)
def test_without_loader_the_engine_gets_the_credentials(source: str, env: list[Any]) -> None:
    assert container(open_model(source=source), PRINTS, playground(annotations=SKIP, **own()))["env"] == env


def test_without_loader_credentials_of_the_user_win() -> None:
    mine = {"name": "HF_TOKEN", "value": "mine"}
    spec = own(backendRuntimeConfig={"backendName": "own", "envs": [mine]})
    got = container(open_model(), PRINTS, playground(annotations=SKIP, **spec))["env"]
    assert got == [mine, HUB_TOKENS[0]]


def pairs(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


@pytest.mark.parametrize(
    ("source", "env"),
    [
        (
            "a/b",
            pairs(MODEL_SOURCE_TYPE="modelhub", MODEL_ID="a/b", MODEL_HUB_NAME="Huggingface", REVISION="main")
            + HUB_TOKENS,
        ),
        (
            {"modelHub": {"name": "ModelScope", "modelID": "a/b", "revision": "master"}},
            pairs(MODEL_SOURCE_TYPE="modelhub", MODEL_ID="a/b", MODEL_HUB_NAME="ModelScope", REVISION="master")
            + HUB_TOKENS,
        ),
        (
            {"modelHub": {"modelID": "a/b", "filename": "c.gguf"}},
            pairs(
                MODEL_SOURCE_TYPE="modelhub",
                MODEL_ID="a/b",
                MODEL_HUB_NAME="Huggingface",
                MODEL_FILENAME="c.gguf",
                REVISION="main",
            )
            + HUB_TOKENS,
        ),
        (
            {"modelHub": {"modelID": "a/b", "allowPatterns": ["*.json", "x*"], "ignorePatterns": ["*.pt"]}},
            pairs(
                MODEL_SOURCE_TYPE="modelhub",
                MODEL_ID="a/b",
                MODEL_HUB_NAME="Huggingface",
                REVISION="main",
                MODEL_ALLOW_PATTERNS="*.json,x*",
                MODEL_IGNORE_PATTERNS="*.pt",
            )
            + HUB_TOKENS,
        ),
        (
            f"{OSS}/models/Qwen2-7B",
            pairs(
                MODEL_SOURCE_TYPE="objstore",
                PROVIDER="OSS",
                ENDPOINT="oss-cn-hangzhou.aliyuncs.com",
                BUCKET="bucket",
                MODEL_PATH="models/Qwen2-7B",
            )
            + OSS_KEYS,
        ),
    ],
)
def test_the_loader_is_told_the_source(source: Any, env: list[Any]) -> None:
    (loader,) = pod(open_model(source=source), PRINTS, playground(**own()))["initContainers"]
    assert loader == {
        "name": "model-loader",
        "image": "inftyai/model-loader:v0.0.10",
        "env": env,
        "volumeMounts": [{"name": "model-volume", "mountPath": "/workspace/models/"}],
    }


def test_the_loader_gets_the_environment_of_the_first_container_and_each_name_once() -> None:
    envs = [{"name": "HTTPS_PROXY", "value": "http://proxy"}, {"name": "HF_TOKEN", "value": "mine"}]
    spec = own(backendRuntimeConfig={"backendName": "own", "envs": envs})
    (loader,) = pod(open_model(), PRINTS, playground(**spec))["initContainers"]
    assert loader["env"][:2] == envs
    names = [env["name"] for env in loader["env"]]
    assert sorted(names) == sorted(set(names))
    assert HUB_TOKENS[0] in loader["env"]


def test_the_user_cannot_redirect_the_loader_by_accident() -> None:
    spec = own(backendRuntimeConfig={"backendName": "own", "envs": pairs(MODEL_ID="other")})
    (loader,) = pod(open_model(), PRINTS, playground(**spec))["initContainers"]
    assert [env["value"] for env in loader["env"] if env["name"] == "MODEL_ID"] == ["Qwen/Qwen2-0.5B"]


def test_a_folder_with_a_dot_is_loaded_to_where_the_engine_looks() -> None:
    """The image takes it for a file (llmaz spec 2.6)."""
    (loader,) = pod(open_model(source=f"{OSS}/models/Qwen2.5-7B"), PRINTS, playground(**own()))["initContainers"]
    script = loader["command"][-1]
    assert "download_dir" in script
    assert "/workspace/models/models--Qwen2.5-7B" in script


def test_a_trailing_slash_does_not_move_the_model() -> None:
    model = open_model(source=f"{OSS}/models/Qwen2-7B/")
    spec = pod(model, PRINTS, playground(**own()))
    assert spec["containers"][0]["args"][0] == "/workspace/models/models--Qwen2-7B"
    assert {"name": "MODEL_PATH", "value": "models/Qwen2-7B"} in spec["initContainers"][0]["env"]


def test_a_host_model_is_mounted_where_it_is_and_nothing_else() -> None:
    spec = pod(open_model(source="host:///data/m"), PRINTS, playground(**own()))
    assert spec["volumes"] == [{"name": "model-volume", "hostPath": {"path": "/data/m"}}]
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": "model-volume", "mountPath": "/data/m", "readOnly": True}
    ]
    assert "initContainers" not in spec


def test_an_ollama_model_needs_no_volume() -> None:
    spec = pod(open_model(source="ollama://qwen2:0.5b"), PRINTS, playground(**own()))
    assert "volumes" not in spec
    assert "volumeMounts" not in spec["containers"][0]
    assert "initContainers" not in spec


def claims(*models: str) -> dict[str, Any]:
    roles = [{"name": models[0], "role": "main"}, *({"name": m, "role": "draft"} for m in models[1:])]
    return {"models": roles}


def test_host_and_loaded_models_have_volumes_of_their_own() -> None:
    spec = pod(
        open_model("big", "host:///data/big"), open_model("small", "a/small"), PRINTS,
        playground(**own(modelClaims=claims("big", "small"), backendRuntimeConfig={
            "backendName": "own", "configName": "default"})),
    )  # fmt: skip
    names = [volume["name"] for volume in spec["volumes"]]
    assert sorted(names) == sorted(set(names))
    assert {"name": "model-volume", "emptyDir": {}} in spec["volumes"]
    assert [v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v] == ["/data/big"]
    assert [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]] == [
        "/data/big",
        "/workspace/models/",
    ]


def test_each_model_has_a_loader_in_model_order_with_one_volume() -> None:
    big = {"modelHub": {"modelID": "a/b", "filename": "big.gguf"}}
    small = {"modelHub": {"modelID": "a/b", "filename": "small.gguf"}}
    refs = [{"name": "small", "role": "draft"}, {"name": "big"}]
    spec = pod(
        open_model("big", big), open_model("small", small),
        playground(modelClaims={"models": refs}, backendRuntimeConfig={"backendName": "llamacpp"}),
    )  # fmt: skip
    loaders = {
        c["name"]: next(e["value"] for e in c["env"] if e["name"] == "MODEL_FILENAME") for c in spec["initContainers"]
    }
    assert loaders == {"model-loader": "big.gguf", "model-loader-1": "small.gguf"}
    assert spec["volumes"] == [{"name": "model-volume", "emptyDir": {}}]
    args = spec["containers"][0]["args"]
    assert args[args.index("-m") + 1] == "/workspace/models/big.gguf"
    assert args[args.index("-md") + 1] == "/workspace/models/small.gguf"


@pytest.mark.parametrize(
    ("source", "annotations", "words"),
    [
        ("s3://bucket/m", None, ("s3://bucket/m", "llmaz.io/skip-model-loader", "streams")),
        ("gcs://bucket/m", None, ("gcs://bucket/m", "llmaz.io/skip-model-loader")),
        ("host:///data/m", SKIP, ("host:///data/m", "remove the annotation")),
        ("ollama://qwen2:0.5b", SKIP, ("ollama://", "remove the annotation")),
        ("host:///data/a:b", None, ("host:///data/a:b", "':'")),
    ],
)
def test_sources_that_cannot_work_are_refused(source: str, annotations: Any, words: tuple[str, ...]) -> None:
    problem = the_error(open_model(source=source), PRINTS, playground(annotations=annotations, **own()))
    assert problem.path == "spec.modelClaim.modelName"
    assert all(word in problem.reason for word in words)


def test_both_templates_of_a_service_get_loader_and_volume_but_only_the_runner_mounts_it() -> None:
    sidecar = {"name": "sidecar", "image": "example.com/sidecar:v1"}
    template = {
        "size": 2,
        "leaderTemplate": {"spec": {"containers": [runner(), sidecar]}},
        "workerTemplate": {"spec": {"containers": [runner(env=pairs(A="1"))]}},
    }
    made = objects(open_model(), service(workloadTemplate=template))["LeaderWorkerSet"]
    group = made["spec"]["leaderWorkerTemplate"]
    for part in ("leaderTemplate", "workerTemplate"):
        spec = group[part]["spec"]
        assert [c["name"] for c in spec["initContainers"]] == ["model-loader"]
        assert spec["volumes"] == [{"name": "model-volume", "emptyDir": {}}]
        assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/workspace/models/"
    assert "volumeMounts" not in group["leaderTemplate"]["spec"]["containers"][1]
    assert group["workerTemplate"]["spec"]["initContainers"][0]["env"][0] == {"name": "A", "value": "1"}


class TestCache:
    """llmaz spec 6.1: a restarted pod does not load again what is complete."""

    CLAIM = ModelCache(claim="weights")

    @pytest.mark.parametrize(
        ("cache", "volume"),
        [
            (CLAIM, {"persistentVolumeClaim": {"claimName": "weights"}}),
            (
                ModelCache(host_path="/mnt/nvme"),
                {"hostPath": {"path": "/mnt/nvme", "type": "DirectoryOrCreate"}},
            ),
        ],
    )
    def test_it_takes_the_place_of_the_empty_dir(self, cache: ModelCache, volume: Any) -> None:
        spec = pod(open_model(), PRINTS, playground(**own()), cache=cache)
        assert spec["volumes"] == [{"name": "model-volume", **volume}]
        assert spec["containers"][0]["volumeMounts"][0]["readOnly"] is True

    def test_loader_and_engine_see_the_same_folder(self) -> None:
        spec = pod(open_model(), PRINTS, playground(**own()), cache=self.CLAIM)
        (loads,) = spec["initContainers"][0]["volumeMounts"]
        (serves,) = spec["containers"][0]["volumeMounts"]
        assert loads["subPath"] == serves["subPath"]

    def test_another_revision_has_another_folder(self) -> None:
        def folder(revision: str) -> str:
            model = open_model(source={"modelHub": {"modelID": "a/b", "revision": revision}})
            spec = pod(model, PRINTS, playground(**own()), cache=self.CLAIM)
            path: str = spec["containers"][0]["volumeMounts"][0]["subPath"]
            return path

        assert folder("main") != folder("v2")
        assert folder("main") == folder("main")

    def test_a_complete_load_is_not_repeated_and_a_broken_one_is(self, tmp_path: Path) -> None:
        spec = pod(open_model(), PRINTS, playground(**own()), cache=self.CLAIM)
        script = spec["initContainers"][0]["command"][-1]
        assert "python main.py" in script
        log = tmp_path / "log"

        def load(exit_code: int) -> int:
            command = f"sh -c 'echo load >> {log}; exit {exit_code}'"
            tried = script.replace("python main.py", command).replace("/workspace/models/", f"{tmp_path}/")
            return subprocess.run(["sh", "-c", tried], check=False, capture_output=True).returncode

        assert load(3) != 0
        assert load(0) == 0
        assert load(0) == 0
        assert log.read_text() == "load\nload\n"

    def test_both_and_neither_place_are_refused(self) -> None:
        for arguments in ({}, {"claim": "a", "host_path": "/b"}):
            with pytest.raises(ValueError, match="exactly one"):
                ModelCache(**arguments)

    def test_models_without_loader_have_none(self) -> None:
        spec = pod(open_model(source="ollama://q"), PRINTS, playground(**own()), cache=self.CLAIM)
        assert "volumes" not in spec


def test_the_order_of_documents_does_not_matter() -> None:
    documents = [open_model(), PRINTS, playground(**own())]
    assert fleet_of(*documents).rendered[0].objects == fleet_of(*reversed(documents)).rendered[0].objects
