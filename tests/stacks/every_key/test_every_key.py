"""No setting is ignored: each key changes what is registered, or a message names it, whoever makes the nodes."""

import json
from typing import Any

import pulumi
import pytest

from tests.recorded import Entry
from tests.stacks.every_key.samples import SAMPLES
from tests.stacks.every_key.walk import keys, merged, with_value
from tests.stacks.shipped import run

KEYS = list(keys())
PROVISIONERS = ("managed", "karpenter")
BASE: dict[str, Any] = {
    "models": ["stacks/models/qwen-chat.yaml", "stacks/models/qwen-cpu.yaml"],
    "network": {"zones": ["us-east-1a", "us-east-1b"]},
    "cluster": {"version": "1.35", "publicAccessCidrs": ["203.0.113.0/24"]},
    "hardening": {},
    "prerequisites": {"install": True},
}
Outcome = tuple[tuple[Entry, ...], frozenset[str]]
"""What is registered, nothing if it is refused, and every line of every message. Outputs alone are no effect."""
_known: dict[str, Outcome] = {}

pytestmark = pytest.mark.usefixtures("here")


def outcome(settings: dict[str, Any], log: pytest.LogCaptureFixture) -> Outcome:
    written = json.dumps(settings, sort_keys=True)
    if written not in _known:
        log.clear()
        registered: tuple[Entry, ...] = ()
        refused = ""
        try:
            registered = run("dev", **settings).graph
        except pulumi.RunError as error:
            refused = str(error)
        lines = [*refused.splitlines(), *(line for each in log.records for line in each.getMessage().splitlines())]
        _known[written] = registered, frozenset(lines)
    return _known[written]


def test_there_is_a_sample_of_every_key() -> None:
    missing = [path for path in KEYS if path not in SAMPLES]
    assert missing == [], "add samples to samples.py beside this file: a value other than the default of each"


def test_there_is_no_sample_of_a_key_that_is_gone() -> None:
    assert sorted(SAMPLES.keys() - KEYS) == []


@pytest.mark.parametrize("provisioner", PROVISIONERS)
@pytest.mark.parametrize("path", sorted(SAMPLES.keys() & KEYS))
def test_a_key_has_an_effect_or_is_named(path: str, provisioner: str, caplog: pytest.LogCaptureFixture) -> None:
    sample = SAMPLES[path]
    without = merged({**BASE, "gpuNodes": {"provisioner": provisioner}}, sample.beside)
    before, heard = outcome(without, caplog)
    after, told = outcome(with_value(without, path, sample.value, sample.entry), caplog)
    if before != after:
        return
    # What was refused before must name the section that the key is in.
    new = told - heard if before else told
    named = [line for line in new if any(word in line for word in names(path, sample.word))]
    assert named, f"{path} does nothing with {provisioner}, and no message names it: {sorted(new)}"


def names(path: str, word: str) -> list[str]:
    """What a message may call a key: its name, or the path of a section below the first that it is in."""
    steps = [step.removesuffix("[]") for step in path.split(".")]
    sections = [".".join(steps[:count]) for count in range(2, len(steps))]
    return [word or steps[-1], *(section for section in sections if not section.endswith("*"))]
