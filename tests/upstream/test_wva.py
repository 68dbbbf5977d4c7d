"""The samples of every release of VariantAutoscaling, and minimal manifests for what is refused.

``INFERENCE_PLATFORM_UPSTREAM`` names a folder with a checkout of each release, at the commit of ``data/wva.yaml``, as
``wva-RELEASE``, such as ``wva-v0.5.1``.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families import load, parse
from components.families.llmd.annotations import annotation_problems, scaled_by
from components.families.llmd.kinds import RELEASES
from tests.upstream.checkouts import ACCEPTED, FOLDER, read

SAMPLES: dict[str, dict[str, Any]] = read("wva.yaml")
REASONS: dict[str, dict[str, Any]] = read("wva_reasons.yaml")
FILES = [(release, path) for release, row in SAMPLES.items() for path in row["examples"]]
OURS = {"form-of-a-later-release", "form-of-an-earlier-release", "kind-that-is-gone"}
"""Reasons of no sample, because each is read in its own release."""


def refusals(text: str, release: str) -> Iterator[str]:
    """Yield why manifests are refused by themselves in a release."""
    manifests = parse(text, "sample.yaml", {"llmd": release})
    yield from (problem.reason for problem in manifests.problems if problem.is_error)
    for other in manifests.others:
        yield from (reason for _, reason in annotation_problems(other.value))


def verdict(release: str, path: str) -> list[str]:
    found = SAMPLES[release]["examples"][path]["verdict"]
    return [] if found == ACCEPTED else list(found)


def test_every_release_has_samples() -> None:
    assert list(SAMPLES) == RELEASES.names
    for row in SAMPLES.values():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", row["repository"])
        assert re.fullmatch(r"[0-9a-f]{40}", row["commit"])
        for sample in row["examples"].values():
            assert re.fullmatch(r"[0-9a-f]{64}", sample["sha256"])
            assert sample["variants"] > 0


def test_every_reason_is_that_of_a_sample_or_our_own() -> None:
    assert {reason for file in FILES for reason in verdict(*file)} | OURS == set(REASONS)


@pytest.mark.parametrize("reason", REASONS)
def test_our_own_case_is_refused_with_these_words(reason: str) -> None:
    row = REASONS[reason]
    found = list(refusals(yaml.safe_dump_all(row["manifests"]), row["release"]))
    assert any(all(word in why for word in row["words"]) for why in found), found


@pytest.mark.parametrize("reason", REASONS)
def test_what_the_message_asks_for_is_accepted(reason: str) -> None:
    row = REASONS[reason]
    assert list(refusals(yaml.safe_dump_all(row["instead"]), row["release"])) == []


@pytest.mark.parametrize(("release", "path"), FILES)
def test_the_verdict_on_each_sample(release: str, path: str) -> None:
    base = os.environ.get(FOLDER)
    file = Path(base) / f"wva-{release}" / path if base else None
    if file is None or not file.is_file():
        pytest.skip(f"no checkout of {release}: set {FOLDER} to a folder with one")
    sample = SAMPLES[release]["examples"][path]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == sample["sha256"]
    manifests = load([file], {"llmd": release})
    scalers = [scaled_by(other.value) for other in manifests.others]
    annotated = [scaler for scaler in scalers if scaler and scaler.is_managed]
    unread = {problem.name for problem in manifests.problems}
    assert len(manifests.resources) + len(annotated) + len(unread) == sample["variants"]
    found, reasons = list(refusals(file.read_text(encoding="utf-8"), release)), verdict(release, path)
    for why in found:
        assert any(all(word in why for word in REASONS[reason]["words"]) for reason in reasons), why
    assert bool(found) == bool(reasons)
