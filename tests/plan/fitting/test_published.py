"""``fit`` against published outcomes that were chosen before its code was written (``published.yaml``)."""

import re

import pytest

from components.checks.memory.cases import Fit
from tests.checks.memory.pairs.pairs import pairs
from tests.plan.fitting.cases import Published, published

CASES = published()
NAMES = [case.name for case in CASES]
FAILED = [case for case in CASES if not case.starts]
ROOMY = [case for case in CASES if case.roomy]


def test_there_are_thirty_of_both_outcomes_that_the_memory_model_was_not_tried_on() -> None:
    assert len(set(NAMES)) == len(CASES) == 30
    assert len(FAILED) == 10
    assert len(ROOMY) == 15
    sources = {source for pair in pairs() if (source := pair.source.split(",")[0]).count("#") == 1}
    assert not {case.row["source"].split(",")[0] for case in CASES} & sources


@pytest.mark.parametrize("case", FAILED, ids=[case.name for case in FAILED])
def test_no_server_that_failed_is_said_to_fit(case: Published) -> None:
    assert case.verdict.fit in (Fit.EXCEEDED, Fit.TIGHT), case.verdict.reason


@pytest.mark.parametrize("case", [case for case in CASES if case.starts], ids=lambda case: case.name)
def test_no_server_that_started_is_refused(case: Published) -> None:
    assert case.verdict.fit in (Fit.FITS, Fit.TIGHT), case.verdict.reason


def test_at_most_one_in_ten_of_those_with_a_tenth_free_is_tight() -> None:
    tight = [case.name for case in ROOMY if case.verdict.fit is not Fit.FITS]
    assert len(tight) <= len(ROOMY) // 10, tight


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_each_case_says_what_was_published_and_where(case: Published) -> None:
    assert re.search(r"20\d\d", str(case.row["source"])) or "blog.vllm.ai/2025" in case.row["source"]
    assert len(case.row["said"]) > 10
