"""llmaz spec 2.2 and 2.6: where the engine finds a model, and what brings it there."""

from typing import Any

import pytest

from tests.families.llmaz.loading.sources import AWS_KEYS, HUB_TOKENS, OSS, OSS_KEYS, PRINTS, SKIP, own, pairs
from tests.fleets import (
    container,
    fleet_of,
    open_model,
    playground,
    pod,
    the_error,
)


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
    *program, script, folder = loader["command"]
    assert program == ["python", "-c"]
    assert 'client.download_dir(os.environ["MODEL_PATH"], sys.argv[1])' in script
    assert folder == "/workspace/models/models--Qwen2.5-7B"


def test_a_trailing_slash_does_not_move_the_model() -> None:
    model = open_model(source=f"{OSS}/models/Qwen2-7B/")
    spec = pod(model, PRINTS, playground(**own()))
    assert spec["containers"][0]["args"][0] == "/workspace/models/models--Qwen2-7B"
    assert {"name": "MODEL_PATH", "value": "models/Qwen2-7B"} in spec["initContainers"][0]["env"]


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


def test_the_order_of_documents_does_not_matter() -> None:
    documents = [open_model(), PRINTS, playground(**own())]
    assert fleet_of(*documents).rendered[0].objects == fleet_of(*reversed(documents)).rendered[0].objects
