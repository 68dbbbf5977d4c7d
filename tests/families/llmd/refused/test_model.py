"""What is refused before anything is computed is what the model of queues cannot size either (WVA spec 8.5)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from components.contract.findings.collector import Findings
from components.families.llmd.checks.accelerator import Entry
from components.families.llmd.checks.targets import ModelTargets, check_targets
from components.families.llmd.profiles import entries_of, profile_of, speed_of
from components.families.llmd.types import VariantAutoscaling
from components.fleet.levels import LatencyTargets
from components.performance.sizing.cases import Case
from components.performance.sizing.queues import size
from tests.families.llmd.refused.support import ENTRY
from tests.families.llmd.support import profile, variant
from tests.fleets import read
from tests.tries import tries

HUNDREDTHS = st.integers(0, 6000).map(lambda number: f"{number / 100:.2f}")


@settings(max_examples=tries(300), deadline=None)
@given(
    alpha=HUNDREDTHS,
    beta=st.sampled_from(["0", "0.00", "0.01", "0.41", "1.5", "30"]),
    batch=st.sampled_from([1, 2, 4, 64]),
    itl=st.integers(0, 60),
    ttft=st.sampled_from([0, 1, 500]),
)
def test_no_more_is_refused_than_cannot_be_sized(alpha: str, beta: str, batch: int, itl: int, ttft: int) -> None:
    source = read(variant("chat", profile(alpha=alpha, beta=beta, batch=batch)))
    assert isinstance(source.resource, VariantAutoscaling)
    (given_profile,) = entries_of(source.resource)
    speed, sizable = speed_of(given_profile), profile_of(given_profile)
    assert speed
    assert sizable
    targets, findings = LatencyTargets(itl, ttft), Findings(source)
    check_targets(Entry(given_profile, ENTRY, speed), ModelTargets("tiny", "Premium", targets), findings)
    (sized,) = size((Case(sizable, targets, 40.0, 178.0),))
    if findings.has_errors:
        assert not sized.is_feasible, [each.reason for each in findings.problems]
    elif not sized.is_feasible:
        alone = float(alpha) + float(beta)
        by_itl, by_wait = bool(itl) and itl - alone < itl / 100, bool(ttft)
        assert by_itl or by_wait, sized.reason
