"""What stays of a comment that is too long."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.checks.memory.cases import Fit
from components.plan.review.review import ChangeKind, FieldDifference, ModelChange, ResourceChange, Review
from tests.plan.review.formats.samples import BASE, HEAD, NOTHING, finding, model
from tests.plan.review.formats.samples import verdict as fit
from workbench.planning.formats.markdown import markdown
from workbench.planning.formats.truncation import LIMIT, Passage, Piece, limited


def large(number: int) -> Review:
    """Return a review of very many models, findings and changes."""
    models = tuple(model(f"model-{place:05}", fit(Fit.FITS, 20)) for place in range(number))
    new = tuple(finding("memory-exceeded", "error", f"reason {place}", place + 1) for place in range(number))
    fields = tuple(FieldDifference(f"spec.field{place}", "a" * 900, "b" * 900) for place in range(30))
    changes = tuple(
        ResourceChange(
            ChangeKind.UPDATED, f"Deployment models/model-{place:05}", "kubernetes:apps/v1:Deployment", fields
        )
        for place in range(number)
    )
    return replace(
        NOTHING,
        head=replace(HEAD, models=models, findings=new),
        base=BASE,
        models=tuple(ModelChange(each, each) for each in models),
        changes=changes,
        new=new,
        failures=tuple(f"failure {place}" for place in range(number)),
    )


@pytest.mark.parametrize("number", [1, 50, 2_000])
def test_the_most_important_survives(number: int) -> None:
    text = markdown(large(number))
    assert len(text.encode("utf-16-le")) // 2 <= LIMIT == 65_536
    assert text.startswith("**Plan of dev:** Nothing can be deployed")
    assert text.rstrip().endswith("<!-- inference-platform plan: dev -->")
    shown = {name: len(re.findall(pattern, text, re.MULTILINE)) for name, pattern in _SHOWN.items()}
    for name, count in shown.items():
        least = 1 if name == "resources" else 20
        rest = re.search(rf"^and ([\d,]+) more {name};", text, re.MULTILINE)
        left = int(rest[1].replace(",", "")) if rest else 0
        assert count + left == number, name
        assert count >= min(number, least), name


_SHOWN = {
    "models": r"^\| `Playground/model-",
    "new errors": r"^- \*\*error\*\* ",
    "resources": r"^- updated `Deployment",
}


@given(
    st.lists(
        st.builds(
            Passage,
            st.just("things"),
            st.integers(0, 5),
            st.lists(st.builds(Piece, st.lists(st.text("ab🙂", max_size=90), max_size=3).map(tuple))).map(tuple),
            share=st.integers(1, 100),
        ),
        max_size=6,
    ),
    st.integers(800, 4_000),
)
def test_no_text_is_longer_than_its_limit(passages: list[Passage], limit: int) -> None:
    assert len(limited(passages, limit).encode("utf-16-le")) // 2 <= limit


def test_what_matters_less_gets_what_is_left() -> None:
    line = Piece(("x" * 99,))  # with its line end 100
    first, second = Passage("firsts", 1, (line,) * 50, share=50), Passage("seconds", 2, (line,) * 50, share=10)
    text = limited([second, first], 3_512)  # 512 are kept for workflows; each passage keeps room for its rest
    counts = [block.count("x" * 99) for block in text.split("more seconds")]
    assert counts[0] == 3  # a tenth of 3,512 are three lines
    assert counts[1] > 17  # half are seventeen, and then all that is left
    assert "and 47 more seconds" in text
