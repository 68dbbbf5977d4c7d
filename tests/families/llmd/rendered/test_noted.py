"""What the plan says of variants that it has sized."""

from typing import Any

import pytest

from tests.families.llmd import support
from tests.families.llmd.support import Object, fleet, levels, per_minute, profile, variant
from tests.fleets import errors, warnings


class TestNotes:
    def test_the_plan_says_where_the_bounds_come_from(self) -> None:
        """40 requests a minute (WVA spec 8.10): 25.31145 each, 2 replicas, ITL 21.49, 95 % wait 209 ms."""
        found = fleet(*support.of_llmkube(), variant(), levels=levels(per_minute(40, 20)))
        ((who, path, reason),) = noted(found)
        assert (who, path) == ("VariantAutoscaling/chat", "spec.modelProfile.accelerators[0]")
        assert reason.startswith("1 to 2 replicas of L4")
        for part in (
            "40 requests/min of 178 tokens (serviceLevels.loads[chat]) need 2, with at most 25.3 per replica",
            "limited by the time-to-first-token target of class 'Premium', and 20 need 1",
            "a token takes 21.5 ms (target 24) and 95 % of requests wait at most 209 ms (target 500)",
            # Two L4 of g6.xlarge, $0.8048 an hour, 730 hours.
            "$1,175/month (80.48 cents/h per L4: g6.xlarge at $0.8048/h)",
        ):
            assert part in reason

    def test_a_cheaper_accelerator(self) -> None:
        """WVA spec 8.10: 200 requests a minute need 8, or 3 of the faster one, at 65 cents."""
        other = profile("MI300X", alpha="7.77", beta="0.15")
        asked = levels(per_minute(200), MI300X="65")
        note, cheaper = noted(fleet(*support.of_llmkube(), variant("chat", profile(), other), levels=asked))
        assert note[1] == "spec.modelProfile.accelerators[0]"
        assert cheaper[1] == "spec.modelProfile.accelerators[1]"
        assert cheaper[2].startswith(
            "3 replicas of MI300X would meet the targets for $1,424/month at the peak, where 8 replicas of L4 cost "
            "$4,700/month; "
        )

    @pytest.mark.parametrize(
        "other",
        [
            # 3 for 200 requests, at a price of which three cost more than eight L4.
            profile("MI300X", alpha="7.77", beta="0.15"),
            # Cheap, and too slow.
            profile("T4", alpha="50", beta="0.15"),
            # Cheap on a node of its own ($0.526), and not on the nodes that have four ($3.912).
            profile("T4", count=4, alpha="7.77", beta="0.15"),
            # Nobody knows what it costs.
            profile("ours", alpha="7.77", beta="0.15"),
        ],
    )
    def test_no_other_accelerator_is_cheaper(self, other: Object) -> None:
        asked = levels(per_minute(200), MI300X="650")
        (note,) = noted(fleet(*support.of_llmkube(), variant("chat", profile(), other), levels=asked))
        assert note[1] == "spec.modelProfile.accelerators[0]"

    def test_notes_are_no_problems(self) -> None:
        found = fleet(*support.of_llmkube(), variant())
        assert errors(found) == []
        assert warnings(found) == []


def noted(found: Any) -> list[tuple[str, str, str]]:
    """The notes of a fleet, but for those that an entry is not the one that counts."""
    notes = [each for each in found.problems if each.severity == "note" and "for comparison" not in each.reason]
    return [(f"{each.kind}/{each.name}", each.path, each.reason) for each in notes]
