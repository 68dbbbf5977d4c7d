"""Quotas and versions: what AWS allows, and until when."""

import pytest

from components.clouds.aws.nodes.plan import NodeGroupPlan
from components.clouds.aws.nodes.quotas import vcpus
from components.fleet.nodes.policy import Capacity, TypePolicy
from tests.clouds.aws.environments import BLOCK, environment, flavor, one, planned
from tests.clouds.aws.nodes.test_checks import P5, said

QUOTA = "8 vCPUs of quota L-DB2E81BA (Running On-Demand G and VT instances), but the account has only 7"


def by_code(groups: tuple[NodeGroupPlan, ...]) -> dict[str, int]:
    return {quota.code: needed for quota, needed in vcpus(groups).items()}


class TestQuotas:
    def test_vcpus_at_the_largest(self) -> None:
        where = environment()
        groups = planned(one(flavor("p5.48xlarge", P5), replicas=2), where)
        assert by_code(groups) == {"L-417A185B": 384}  # aws-gpu spec 14: 192 each

    def test_spot_counts_elsewhere_and_blocks_nowhere(self) -> None:
        spot = environment(capacity="spot")
        assert by_code(planned(one(flavor("g5.xlarge")), spot)) == {"L-3819A6DF": 4}
        block = environment(types={"p5.48xlarge": TypePolicy(capacity=Capacity.CAPACITY_BLOCK, reservation=BLOCK)})
        assert by_code(planned(one(flavor("p5.48xlarge", P5)), block)) == {}

    @pytest.mark.parametrize("kind", ["c7g.xlarge", "m7i.xlarge", "r7i.xlarge"])
    @pytest.mark.parametrize(("capacity", "code"), [("on-demand", "L-1216C47A"), ("spot", "L-34B43A08")])
    def test_general_purpose_types_count_against_the_standard_quotas(
        self, kind: str, capacity: str, code: str
    ) -> None:
        groups = planned(one(flavor(kind, {"cpu": 2}), replicas=3), environment(capacity=capacity))
        assert by_code(groups) == {code: 4 * groups[0].maximum}

    def test_system_nodes_are_on_demand(self) -> None:
        """Two m7i.large of 2 vCPUs beside 4 of a model, and beside spot nodes."""
        on_demand = planned(one(flavor("m7i.xlarge", {"cpu": 2})), environment())
        assert {quota.code: n for quota, n in vcpus(on_demand, 4).items()} == {"L-1216C47A": 8}
        spot = planned(one(flavor("m7i.xlarge", {"cpu": 2})), environment(capacity="spot"))
        assert {quota.code: n for quota, n in vcpus(spot, 4).items()} == {"L-1216C47A": 4, "L-34B43A08": 4}

    @pytest.mark.parametrize(("quota", "warned"), [(5, True), (7, True), (8, False)])
    def test_the_warning_counts_system_nodes_too(self, quota: int, warned: bool) -> None:
        """5 is the quota of a new account (AWS CLI reference, get-aws-default-service-quota)."""
        texts = said(
            flavor("m7i.xlarge", {"cpu": 2}), quotas={"L-1216C47A": quota}, system_vcpus=4, severity="warning"
        )
        expected = (
            "may grow to 8 vCPUs of quota L-1216C47A (Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) "
            f"instances), 4 of them for the system's pods, but the account has only {quota}"
        )
        assert [expected in text for text in texts] == [True] * warned

    @pytest.mark.parametrize(("quota", "warned"), [(7, True), (8, False)])
    def test_too_few_are_warned_about(self, quota: int, warned: bool) -> None:
        texts = said(flavor("g5.2xlarge"), quotas={"L-DB2E81BA": quota}, severity="warning")
        assert [QUOTA in text for text in texts] == [True] * warned

    def test_an_unknown_code(self) -> None:
        (text,) = said(flavor("g5.2xlarge"), quotas={"L-DB2E81BB": 8})
        assert "unknown quota code 'L-DB2E81BB'; did you mean 'L-DB2E81BA'?" in text
