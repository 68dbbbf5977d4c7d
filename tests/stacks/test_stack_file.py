"""Where a setting is: each message names the file of the stack, the line and the full key."""

from pathlib import Path

import pytest

from components.contract.problems import Problem
from stacks.stack_file import StackFile

TEXT = """\
config:
  inference-platform:cloud: aws
  inference-platform:gpuNodes:
    types:
      p5.48xlarge:
        zones:
          - a
          - b
      p5: {capacity: spot}
  region: us-east-1
  inference-platform:tags: '{"a": 1}'
  inference-platform:cluster: {version: "1.35",
    addons: {a: b}}
"""
LINES = {
    "cloud": 2,
    "gpuNodes": 3,
    "gpuNodes.types.p5.48xlarge": 5,
    "gpuNodes.types.p5.48xlarge.zones.1": 8,
    "gpuNodes.types.p5.48xlarge.zones[1]": 8,
    "gpuNodes.types[p5.48xlarge].zones[0]": 7,
    "gpuNodes.types.p5.capacity": 9,
    # Keys and parts that are not in the file: the nearest parent.
    "gpuNodes.types.p5.48xlarge.reservation": 5,
    "gpuNodes.types.p5.48xlarge.zones.2": 6,
    "gpuNodes.types.p": 4,
    "region": 10,
    "tags.a": 11,
    "cluster.addons": 13,
    "network.zones": 1,
}


@pytest.mark.parametrize("path", LINES)
def test_lines(path: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: inference-platform\n")
    (tmp_path / "Pulumi.dev.yaml").write_text(TEXT)
    message = StackFile("Pulumi.dev.yaml", tmp_path).message(path, "is wrong")
    assert message == f"Pulumi.dev.yaml:{LINES[path]}: inference-platform:{path}: is wrong"


def test_a_folder_of_its_own_for_stack_files(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: inference-platform\nstackConfigDir: stacks\n")
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks/Pulumi.dev.yaml").write_text(f"\n{TEXT}")
    assert StackFile("Pulumi.dev.yaml", tmp_path).line("inference-platform:cloud") == 3


@pytest.mark.parametrize("text", [None, "", "config: [", "a: \x00", "- 1"])
def test_without_a_file_that_can_be_read(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "Pulumi.dev.yaml").write_text(text)
    file = StackFile("Pulumi.dev.yaml", tmp_path)
    line = ":1" if text == "- 1" else ""
    assert file.message("cloud", "is wrong") == f"Pulumi.dev.yaml{line}: inference-platform:cloud: is wrong"
    assert StackFile("Pulumi.dev.yaml").message("cloud", "x") == "Pulumi.dev.yaml: inference-platform:cloud: x"


def test_a_text_that_only_libyaml_reads(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: x\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  other:a: S\ttandard\n  inference-platform:region: x\n")
    found = StackFile("Pulumi.dev.yaml", tmp_path).message("region", "is wrong")
    assert found == "Pulumi.dev.yaml:3: inference-platform:region: is wrong"


def test_only_settings_are_located(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text(TEXT)
    of_manifest = Problem(file="models.yaml", line=3, kind="OpenModel", name="m", path="spec", reason="is wrong")
    of_file = Problem(file="prices.yaml", path="date", reason="is wrong")
    of_setting = Problem(file="Pulumi.dev.yaml", path="cloud", reason="is wrong")
    manifest, file, setting = StackFile("Pulumi.dev.yaml", tmp_path).located([of_manifest, of_file, of_setting])
    assert (manifest, file) == (of_manifest, of_file)
    assert str(setting).startswith("Pulumi.dev.yaml:2: inference-platform:cloud: is wrong")
