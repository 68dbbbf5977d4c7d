"""Other GPUs: the ratios of what data sheets say, worked out by hand (L40S 864 GB/s, L4 300, H100 3350)."""

from dataclasses import replace

import pytest

from components.plan.review.compare import review
from components.plan.review.review import Review
from components.plan.review.snapshot import NodeGroupState, Snapshot
from tests.plan.review.revisions import changed, deployment, revision, workload
from toolkit.screen import Screen
from workbench.planning.formats.html.page import html
from workbench.planning.formats.markdown import markdown
from workbench.planning.formats.text import text
from workbench.planning.wording.models import model_lines
from workbench.planning.wording.sentences import footnotes, verdict


def on(instance_type: str, accelerators: int = 1) -> Snapshot:
    group = NodeGroupState("gpus", instance_type, "on-demand", 1, 1, accelerators, "cloud")
    body = changed(deployment(), "spec.template.spec.nodeSelector", {"type": instance_type})
    return revision(workload(body, accelerators=accelerators, group="gpus"), groups=(group,))


def compared(before: str, after: str, counts: tuple[int, int] = (1, 1)) -> Review:
    return review(on(after, counts[1]), on(before, counts[0]))


def test_other_gpus_say_how_fast_they_are() -> None:
    found = compared("g6e.2xlarge", "g6.2xlarge")
    (line,) = model_lines(found)
    assert line.speeds == (
        "1 x L40S → 1 x L4; each 864 → 300 GB/s of memory (0.35 times), 362 → 121 TFLOPS with 16 bits (0.33 times)",
    )
    gets = "Playground/chat moves from 1 x L40S to 1 x L4, each with 0.35 times the memory bandwidth"
    assert gets in verdict(found)
    assert any("speeds.yaml" in note for note in footnotes(found))
    for written in (text(found, Screen(400), details=True), markdown(found), html(found)):
        assert "864 → 300 GB/s" in written


def test_more_gpus_are_counted_and_not_multiplied() -> None:
    """Four L4 have no four times the speed of one: how a model is cut decides about that."""
    (line,) = model_lines(compared("p5.48xlarge", "g6.12xlarge", (8, 4)))
    assert line.speeds[0].startswith("8 x H100 → 4 x L4; each 3350 → 300 GB/s of memory (0.09 times)")


@pytest.mark.parametrize(("before", "after"), [("g6.2xlarge", "g6.4xlarge"), ("g6.2xlarge", "g6.2xlarge")])
def test_the_same_gpus_on_another_type_are_no_change(before: str, after: str) -> None:
    found = compared(before, after)
    assert [line.speeds for line in model_lines(found)] == [()]
    assert "bandwidth" not in verdict(found)


def test_the_same_name_with_other_memory_is_another_gpu() -> None:
    (line,) = model_lines(compared("p4d.24xlarge", "p4de.24xlarge", (8, 8)))
    assert line.speeds[0].startswith("8 x A100 → 8 x A100; each 1555 → 2039 GB/s of memory (1.31 times)")


def test_what_no_source_says_is_not_known() -> None:
    found = compared("g6.2xlarge", "inf2.xlarge")
    (line,) = model_lines(found)
    assert line.speeds[0].endswith("speeds unknown")
    assert "of unknown speed" in verdict(found)


def test_models_without_gpus_and_new_ones_say_nothing() -> None:
    assert [line.speeds for line in model_lines(compared("m7i.2xlarge", "g6.2xlarge", (0, 1)))] == [()]
    assert [line.speeds for line in model_lines(review(on("g6.2xlarge"), None))] == [()]
    empty = replace(on("g6.2xlarge"), models=(), workloads=(), resources=())
    assert [line.speeds for line in model_lines(review(on("g6.2xlarge"), empty))] == [()]
