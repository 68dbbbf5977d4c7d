"""The picture of models, workloads and nodes."""

from dataclasses import replace

import pytest

from components.checks.memory.cases import Fit
from components.plan.review.review import Review
from components.plan.review.snapshot import NodeGroupState, ServedModel
from tests.plan.review.formats.samples import ALONE, HEAD, WHOLE, model, state, verdict
from workbench.planning.formats.mermaid import mermaid
from workbench.planning.wording.diagram import MAX_BOXES, Look, diagram


def many(models: int, groups: int) -> Review:
    """Return a review of models that prefer groups in turn; the last model does not fit."""
    names = [f"g{place}" for place in range(groups)]
    served: list[ServedModel] = []
    for place in range(models):
        fit = Fit.EXCEEDED if place == models - 1 else Fit.FITS
        served.append(replace(model(f"m{place}", verdict(fit, 20)), groups=(names[place % groups],)))
    nodes = tuple(NodeGroupState(name, "g6e.2xlarge", "on-demand", 1, 2, 1) for name in names)
    head = replace(HEAD, models=tuple(served), workloads=tuple(map(state, served)), groups=nodes)
    return replace(ALONE, head=head)


def test_each_model_leads_to_its_workload_and_that_to_its_nodes() -> None:
    found = diagram(WHOLE)
    first = [column[0].lines for column in found.columns]
    assert first == [
        ("Playground/chat", "example/chat", "does not fit"),
        ("Deployment models/chat", "2 replicas", "rolls with a gap"),
        ("4 x g6e.2xlarge, spot",),
    ]
    assert {(0, 0, 0), (1, 0, 0)} <= set(found.arrows)
    assert [node.look for node in found.columns[0]] == [Look.BAD, Look.TIGHT, Look.OPEN, Look.PLAIN]
    assert found.columns[1][0].look is Look.CHANGED


@pytest.mark.parametrize(("models", "groups"), [(18, 4), (19, 4), (300, 3), (300, 90)])
def test_a_picture_has_no_more_than_forty_nodes(models: int, groups: int) -> None:
    found = diagram(many(models, groups))
    assert sum(map(len, found.columns)) <= MAX_BOXES == 40
    if 2 * models + groups <= 40:
        assert (len(found.columns), found.omitted) == (3, "")
        return
    assert len(found.columns) == 2
    assert found.omitted.startswith(f"{models} models by node group")
    shown = sum(int(node.lines[0].split()[0]) for node in found.columns[0])
    assert shown == models or f"{groups - 20} more groups omitted" in found.omitted


def test_a_group_is_as_bad_as_its_worst_model() -> None:
    looks = [node.look for node in diagram(many(300, 3)).columns[0]]
    assert sorted(looks) == [Look.BAD, Look.GOOD, Look.GOOD]


def test_nothing_makes_no_picture() -> None:
    empty = replace(ALONE, head=replace(HEAD, models=(), workloads=(), groups=()))
    assert diagram(empty).is_empty


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Playground/chat-1.5_b", "Playground/chat-1.5_b"),
        ('a"]', "a#34;#93;"),
        ("- list", "#45; list"),  # Mermaid would refuse a label that begins a list
        ("1. list", "1#46; list"),
        ("`x`", "#96;x#96;"),
        ("#quot;", "#35;quot#59;"),
        ("a\nb", "a#92;x0ab"),
        ("é", "#233;"),
        ("x" * 80, "x" * 59 + "#8230;"),
    ],
)
def test_labels_are_only_text(text: str, label: str) -> None:
    found = replace(model("m", None), title=text, model="m")
    review = replace(ALONE, head=replace(HEAD, models=(found,), workloads=(), groups=()))
    assert mermaid(diagram(review))[1] == f'  a0["{label}<br/>m<br/>not checked"]'
