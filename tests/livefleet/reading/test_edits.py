"""What is played follows the manifests: an edit changes what it is about, and nothing is played of what is wrong."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from livefleet.fleet import LiveFleet, PaceSource, Speaks
from toolkit.errors import UserError
from workbench.deploying.starting import read_fleet

ROOT = Path(__file__).parents[3]
MODEL = """\
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {{name: {name}}}
spec: {{source: org/{name}, format: safetensors}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {{name: {name}}}
spec:
  modelRef: {name}
  runtime: generic
  image: {image}
  args: {args}
  containerPort: 8000
  resources: {{cpu: "1", memory: 1Gi}}
  nodeSelector: {{node.kubernetes.io/instance-type: m7i.2xlarge}}
  endpoint: {{port: 8000}}
"""
ARGS = ["--model=org/one", "--served-model-name"]
VLLM = "vllm/vllm-openai:v0.20.0"


def written(folder: Path, *models: str, settings: dict[str, object] | None = None) -> Path:
    """A project with some models."""
    (folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
    for name in ("__main__.py", "components", "stacks"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    (folder / "models.yaml").write_text("---\n".join(models))
    own = {"models": ["models.yaml"], "kubeconfig": ".workbench/kubeconfig", "simulatedNodes": True}
    config = {f"inference-platform:{key}": value for key, value in {**own, **(settings or {})}.items()}
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": config}))
    return folder


def model(name: str, *args: str, image: str = VLLM) -> str:
    return MODEL.format(name=name, image=image, args=list(args) or [f"--model=org/{name}"])


def played(folder: Path, *models: str, settings: dict[str, object] | None = None) -> LiveFleet:
    found = read_fleet(written(folder, *models, settings=settings), "dev")
    assert found is not None
    return found


def test_an_edit_changes_only_its_own_entry(tmp_path: Path) -> None:
    before = played(tmp_path, model("one"), model("two"))
    after = played(tmp_path, model("one"), model("two", "--model=org/two", "--max-num-seqs=7"))
    assert after.workloads[0] == before.workloads[0]
    old, new = before.workloads[1], after.workloads[1]
    assert {name: pace.batch for name, pace in new.paces.items()} == dict.fromkeys(new.paces, 7)
    assert replace(new, paces=old.paces) == old
    assert replace(after, workloads=before.workloads) == before


def test_an_edit_of_nothing_changes_nothing(tmp_path: Path) -> None:
    assert played(tmp_path, model("one")) == played(tmp_path, model("one") + "# a word\n")


def test_a_model_that_goes_takes_its_endpoint_along(tmp_path: Path) -> None:
    assert [each.title for each in played(tmp_path, model("one"), model("two")).endpoints] == ["one", "two"]
    assert [each.title for each in played(tmp_path, model("two")).endpoints] == ["two"]


def test_nothing_is_played_of_what_is_wrong(tmp_path: Path) -> None:
    assert read_fleet(written(tmp_path, model("one").replace("modelRef: one", "modelRef: absent")), "dev") is None


def test_nothing_is_played_without_simulated_nodes(tmp_path: Path) -> None:
    assert read_fleet(written(tmp_path, model("one"), settings={"simulatedNodes": False}), "dev") is None


def test_a_stack_without_models_has_nothing_to_play(tmp_path: Path) -> None:
    found = read_fleet(written(tmp_path, "", settings={"models": []}), "dev")
    assert found is None or (found.workloads, found.endpoints) == ((), ())


def test_a_stack_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no"):
        read_fleet(written(tmp_path, model("one")), "absent")


@pytest.mark.parametrize(
    ("image", "args", "engine", "embeds"),
    [
        (VLLM, ["--model=org/m", "--runner=pooling"], "vllm", True),
        (VLLM, ["--model=org/m", "--runner=generate"], "vllm", False),
        ("ghcr.io/ggml-org/llama.cpp:server-b6500", ["--model", "/m.gguf", "--embeddings"], "llamacpp", True),
        ("example.com/mirror/huggingface/text-embeddings-inference:1.8", ["--model-id=m"], "tei", True),
        ("example.com/own-server:1", ["--model-id=m"], "", False),
    ],
)
def test_servers_of_ones_own(tmp_path: Path, image: str, args: list[str], engine: str, embeds: bool) -> None:
    (found,) = played(tmp_path, model("own", *args, image=image)).workloads
    assert (found.engine, found.embeds) == (engine, embeds)
    assert all(pace.source == PaceSource.ASSUMED for pace in found.paces.values())


@pytest.mark.parametrize("name", ["a b", "quote'\"s", "$(id)", "\u202eevil", "line\nbreak"])
def test_hostile_names_of_models_are_names(tmp_path: Path, name: str) -> None:
    """They come as they are, or the stack is refused; nothing else is made of them."""
    manifest = model("one").replace("args: ['--model=org/one']", f"args: {json.dumps([*ARGS, name])}")
    found = read_fleet(written(tmp_path, manifest), "dev")
    if found is not None:
        assert found.workloads[0].models == (name,)
        assert found.endpoints[0].title == "one"


SGLANG, LLAMACPP = "lmsysorg/sglang:v0.5.4", "ghcr.io/ggml-org/llama.cpp:server-b7500"
TEI = "ghcr.io/huggingface/text-embeddings-inference:cpu-1.8"


@pytest.mark.parametrize(
    ("image", "args", "exports"),
    [
        (SGLANG, ["--model-path=org/one"], False),
        (SGLANG, ["--model-path=org/one", "--enable-metrics"], True),
        (LLAMACPP, ["-m", "x.gguf"], False),
        (LLAMACPP, ["-m", "x.gguf", "--metrics"], True),
        (VLLM, ["--model=org/one"], True),
        (VLLM, ["--model=org/one", "--disable-log-stats"], False),
    ],
)
def test_metrics_are_there_where_they_are_turned_on(
    tmp_path: Path, image: str, args: list[str], *, exports: bool
) -> None:
    (one,) = played(tmp_path, model("one", *args, image=image)).workloads
    assert one.exports is exports


@pytest.mark.parametrize(
    ("loaded", "dimensions", "tokens"),
    [
        # Published: BAAI/bge-small-en-v1.5 has 384, bge-large-en-v1.5 1024, of 512 tokens each.
        ("BAAI/bge-small-en-v1.5", 384, 512),
        ("BAAI/bge-large-en-v1.5", 1024, 512),
        ("snowflake/snowflake-arctic-embed-m-long", 768, 2048),
        ("org/of-our-own", None, None),
    ],
)
def test_a_server_of_embeddings_is_played_as_such(
    tmp_path: Path, loaded: str, dimensions: int | None, tokens: int | None
) -> None:
    args = ["--model-id", loaded, "--max-client-batch-size", "8"]
    (one,) = played(tmp_path, model("one", *args, image=TEI)).workloads
    assert (one.speaks, one.simulated_server, one.version, one.embeds) == (Speaks.TEI, "tei", "1.8", True)
    assert (one.dimensions, one.context, one.inputs, one.in_flight, one.loaded) == (
        dimensions,
        tokens,
        8,
        512,
        loaded,
    )


@pytest.mark.parametrize(
    ("loaded", "images"),
    [("Qwen/Qwen3-8B", False), ("google/gemma-3-4b-it", True), ("org/of-our-own", None)],
)
def test_whether_a_model_reads_images_is_in_the_catalog(tmp_path: Path, loaded: str, images: bool | None) -> None:
    (one,) = played(tmp_path, model("one", f"--model={loaded}")).workloads
    assert one.images is images
    assert one.image_refusal == f"{loaded} is not a multimodal model"
    assert one.tool_refusal
    tools = ("--enable-auto-tool-choice", "--tool-call-parser=hermes")
    (two,) = played(tmp_path, model("one", f"--model={loaded}", *tools)).workloads
    assert not two.tool_refusal
