"""Numbers that no machine integer holds: every numeric setting is refused by its name, or works."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hostile.runs import ROOT, checked, project
from tests.stacks.every_key.samples import SAMPLES
from tests.stacks.every_key.walk import merged, with_value

BEYOND_FLOAT = 10**400
PREVIEW = ("preview", "--stack", "dev", "--engine", "local", "--offline", "--output", "json")
NUMBERS = sorted(
    path
    for path, sample in SAMPLES.items()
    if isinstance(sample.value, (int, float)) and not isinstance(sample.value, bool)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("numbers")
    project(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


def preview(folder: Path, settings: dict[str, Any]) -> str:
    config = {
        "pulumi:disable-default-providers": ["kubernetes", "aws"],
        **{f"inference-platform:{key}": value for key, value in settings.items()},
    }
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": config}))
    printed = checked(*PREVIEW)
    assert printed.code in (0, 1)
    return printed.stderr if printed.code else ""


@pytest.mark.parametrize("path", NUMBERS)
def test_a_number_beyond_every_float_is_refused_where_it_stands(path: str, folder: Path) -> None:
    shipped = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    base = {
        key.partition(":")[2]: value for key, value in shipped.items() if key.startswith("inference-platform:")
    } | {"models": [str(ROOT / "stacks/models/qwen-chat.yaml")]}
    sample = SAMPLES[path]
    settings = with_value(merged(copy.deepcopy(base), sample.beside), path, BEYOND_FLOAT, sample.entry)
    refused = preview(folder, settings)
    key = path.rpartition(".")[2]
    assert key in refused or path.split(".")[1] in refused, refused
