"""The time of every list and map of the settings grows at most linearly with its length."""

import copy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.hostile.runs import ROOT, project, run
from tests.stacks.every_key.samples import SAMPLES
from tests.stacks.every_key.walk import merged, with_value

KEY = "inference-platform:"
Path_ = tuple[str | int, ...]
SHORT, LONG = 250, 1000
LINEAR, QUADRATIC = 4, 16
"""Growth of the time with four times as many items."""


def containers(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Yield the lists and maps in settings; of the items of a list, the first stands for all."""
    for key in [*value] if isinstance(value, dict) else range(min(1, len(value))):
        inner = value[key]
        if isinstance(inner, dict | list):
            yield (*path, key), inner
            yield from containers(inner, (*path, key))


def base() -> dict[str, Any]:
    shipped = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    settings = {key.removeprefix(KEY): value for key, value in shipped.items() if key.startswith(KEY)}
    return {**settings, "models": [str(ROOT / "stacks/models/qwen-chat.yaml")]}


def places() -> dict[str, tuple[dict[str, Any], Path_]]:
    """Return settings with every list and map that a sample of a key has, by its place."""
    found: dict[str, tuple[dict[str, Any], Path_]] = {}
    for key, sample in SAMPLES.items():
        settings = with_value(merged(base(), sample.beside), key, copy.deepcopy(sample.value), sample.entry)
        for path, _ in containers(settings):
            # The rules of all instance types are the same.
            place = ".".join(
                "*" if path[:2] == ("gpuNodes", "types") and n == 2 else str(k) for n, k in enumerate(path)
            )
            found.setdefault(place, (settings, path))
    return found


PLACES = places()


def numbered(value: Any, number: int) -> Any:
    """Return a value whose texts end in a number, so that all items differ."""
    if isinstance(value, dict):
        return {key: numbered(inner, number) for key, inner in value.items()}
    return f"{value}{number}" if isinstance(value, str) else value


def grown(value: Any, count: int) -> Any:
    """Return a list or a map with so many items like its first one."""
    if isinstance(value, list):
        return [numbered(value[0] if value else "x", number) for number in range(count)]
    key = next(iter(value), "key")
    return {f"{key}{number}": copy.deepcopy(value.get(key, "x")) for number in range(count)}


def with_grown(settings: dict[str, Any], path: Path_, count: int) -> dict[str, Any]:
    settings = copy.deepcopy(settings)
    parent: Any = settings
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = grown(parent[path[-1]], count)
    return settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("growth")
    project(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


def seconds(folder: Path, settings: dict[str, Any], *command: str) -> float:
    """Return the CPU time of a command with these settings."""
    config = {"pulumi:disable-default-providers": ["kubernetes", "aws"]}
    config |= {f"{KEY}{key}": value for key, value in settings.items()}
    text = yaml.dump({"config": config}, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
    (folder / "Pulumi.dev.yaml").write_text(text)
    begun = time.process_time()
    assert run(*command).code in (0, 1)
    return time.process_time() - begun


@pytest.mark.parametrize("place", PLACES)
def test_time_grows_linearly(place: str, folder: Path) -> None:
    settings, path = PLACES[place]
    command = ("validate", "--stack", "dev", "--output", "json")
    measured = []
    for _ in range(3):  # a collection of the garbage of other tests may fall into one of the runs
        long = seconds(folder, with_grown(settings, path, LONG), *command)
        if long < 1:
            return  # most of it is the start of the command
        short = seconds(folder, with_grown(settings, path, SHORT), *command)
        if long < short * (LINEAR + QUADRATIC) / 2:
            return
        measured.append((short, long))
    pytest.fail(f"seconds of {SHORT} and of {LONG} items: {measured}")


@pytest.mark.parametrize("command", ["validate", "plan", "migrate"])
def test_nested_settings_end_in_a_message(command: str, folder: Path) -> None:
    for depth in (200, 5_000):
        for text in ("{a: " * depth + "1" + "}" * depth, "[" * depth + "]" * depth, '"' + "[" * depth + '"'):
            (folder / "Pulumi.dev.yaml").write_text(f"config:\n  {KEY}tags: {text}\n")
            begun = time.process_time()
            options = ("--release", "kthena=v1.0.0") if command == "migrate" else ()
            done = run(command, "--stack", "dev", *options)
            assert done.code in (0, 1, 2)
            assert done.stdout + done.stderr
            assert time.process_time() - begun < 10
