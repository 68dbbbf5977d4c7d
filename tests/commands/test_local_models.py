"""Models that a command line describes: ``validate --config``, and folders that this machine has as well."""

import json
from pathlib import Path

import pytest

from tests.commands.support import workbench
from tests.plan.test_model_shapes import LLAMA as CONFIG
from workbench.errors import WorkbenchError
from workbench.local_models import local_shape, shapes_in

GIB = 2**30
MANIFEST = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec:
  familyName: f
  source: {{modelHub: {{modelID: {model}}}}}
  inferenceConfig:
    flavors: [{{name: only, limits: {{nvidia.com/gpu: 1}}, params: {{INSTANCE-TYPE: {type}}}}}]
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {name}}}
spec:
  modelClaim: {{modelName: {name}}}
  backendRuntimeConfig: {{version: v0.20.0, args: [--max-model-len, "4096"]}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "own"
    found.mkdir()
    (found / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    return found


def manifest(model: str = "acme/assistant", node: str = "g4dn.2xlarge", name: str = "p") -> str:
    return MANIFEST.format(model=model, type=node, name=name)


@pytest.mark.parametrize("path", ["{folder}", "{folder}/config.json"])
@pytest.mark.parametrize("name", ["acme/assistant=", ""])
def test_a_configuration_makes_a_verdict(folder: Path, path: str, name: str) -> None:
    """15.0 GiB of weights do not fit the 13.1 GiB that vLLM may use of a T4."""
    before = workbench("validate", "-", "--details", text=manifest())
    assert (before.returncode, "unknown model acme/assistant" in before.stdout) == (0, True)
    done = workbench("validate", "-", "--config", name + path.format(folder=folder), text=manifest())
    assert done.returncode == 1
    assert "acme/assistant does not fit g4dn.2xlarge" in done.stdout
    assert "weights 15.0 GiB" in done.stdout
    assert "not checked" not in done.stdout


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_strict_fails_on_models_that_are_not_checked(command: str) -> None:
    reason = "Playground/p: memory not checked: unknown model acme/assistant"
    strict = workbench(command, "-", "--strict", text=manifest())
    assert strict.returncode == 1
    assert reason in " ".join((strict.stdout + strict.stderr).split())
    assert workbench(command, "-", text=manifest()).returncode == 0
    known = workbench(command, "-", "--strict", text=manifest(model="Qwen/Qwen3-0.6B"))
    assert (known.returncode, "--strict" in known.stdout + known.stderr) == (0, False)


def test_files_beside_it_tell_the_size_of_the_weights(folder: Path) -> None:
    index = {"metadata": {"total_size": 5 * GIB}, "weight_map": {}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    done = workbench("validate", "-", "--config", f"acme/assistant={folder}", "--stack", "none", text=manifest())
    assert (done.returncode, done.stdout) == (0, "2 resources in 1 file: 0 errors\n")
    assert shapes_in([f"m={folder}"])["m"].shape.weights_bytes == 5 * GIB


def test_a_folder_that_the_server_is_told_is_read_where_it_is_here(folder: Path) -> None:
    shape = local_shape(str(folder))
    assert shape
    assert shape.parameters == 8_030_261_248
    assert local_shape(f"host://{folder}") is not None
    assert local_shape(str(folder / "none")) is None
    assert local_shape("acme/assistant") is None
    (folder / "config.json").write_text("[", encoding="utf-8")
    assert local_shape(str(folder)) is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("acme/assistant={folder}/none.json", "none.json: cannot be read"),
        ("acme/other={folder}", "no manifest serves acme/other"),
        ("={folder}", "must be MODEL=PATH or PATH, once for each model"),
        ("acme/assistant=", "must be MODEL=PATH or PATH, once for each model"),
    ],
)
def test_what_cannot_be_used_is_refused(folder: Path, given: str, says: str) -> None:
    done = workbench("validate", "-", "--config", given.format(folder=folder), text=manifest())
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_one_configuration_for_several_models_is_refused(folder: Path) -> None:
    text = manifest() + "---\n" + manifest("acme/second", name="q")
    done = workbench("validate", "-", "--config", folder, text=text)
    assert done.returncode == 2
    assert "matches several models, acme/assistant, acme/second; pass MODEL=PATH" in done.stderr


@pytest.mark.parametrize("text", ["[", "[]", "{}", '{"hidden_size": "x"}', '{"num_hidden_layers": -1}'])
def test_what_is_no_configuration_is_refused(folder: Path, text: str) -> None:
    (folder / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(WorkbenchError):
        shapes_in([str(folder)])
