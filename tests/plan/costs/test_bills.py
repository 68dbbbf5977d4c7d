"""What is in a bill, and what is not."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.clouds.aws.prices.tables import AwsItem
from components.fleet.prices import Buying, fixed_quote
from components.plan.costs.bill import NOTHING, Amounts, Bill, CostItem, cents
from components.plan.costs.prices import OwnPrices
from tests.plan.costs.manifests import flavor, served, written
from tests.plan.costs.stacks import AWS, bill

ONE = written([served("one", flavor("g6.2xlarge"))])
BALANCED = {"expose": "load-balancer", "internal": True}
KEY = "arn:aws:kms:us-east-1:123456789012:key/0a1b"
LOCAL: dict[str, Any] = {"kubeconfig": "k", "simulatedNodes": True}


def item(found: Bill, name: str) -> CostItem:
    """The only item with a name."""
    (only,) = [each for each in found.items if each.name == name]
    return only


def on_aws(manifests: str = ONE, own: OwnPrices | None = None, **changes: Any) -> Bill:
    """The bill of an environment on AWS."""
    return bill(manifests, {**AWS, **changes}, own)


def nodes(rule: dict[str, Any], kind: str = "g6.2xlarge", **others: Any) -> dict[str, Any]:
    """Settings of an instance type."""
    return {"gpuNodes": {"types": {kind: rule}, **others}}


def same(number: str) -> Amounts:
    """A number that never changes."""
    return Amounts(Decimal(number), Decimal(number), Decimal(number))


@pytest.mark.parametrize(
    ("changes", "name", "count"),
    [
        ({}, "NAT gateways", "1"),
        ({"network": {**AWS["network"], "natGateways": "per-zone"}}, "NAT gateways", "2"),
        ({"network": {**AWS["network"], "natGateways": "per-zone"}}, "public IPv4 addresses", "2"),
        ({"network": {**AWS["network"], "interfaceEndpoints": ["sts", "ec2", "sts"]}}, "interface endpoints", "4"),
        ({"cluster": {**AWS["cluster"], "systemNodes": 5}}, "system nodes", "5"),
        ({"cluster": {**AWS["cluster"], "bastion": True}}, "bastion", "1"),
        # 80 GiB of a node with local NVMe, twice 50 of the system; 8 of a bastion.
        ({}, "disks of nodes", "180"),
        ({"cluster": {**AWS["cluster"], "bastion": True}}, "disks of nodes", "188"),
        ({"gpuNodes": {"diskThroughput": 225}}, "throughput of disks above 125 MiB/s", "100"),
        ({"gpuNodes": {"diskIops": 3500}}, "IOPS of disks above 3000", "500"),
        ({"frontDoor": BALANCED, "prerequisites": {"install": True}}, "load balancers", "1"),
        ({"modelCache": {"fsx": {"zone": "us-east-1a"}}}, "FSx for Lustre", "1200"),
        ({"modelCache": {"efs": {"throughput": "provisioned", "mibps": 7}}}, "EFS throughput", "7"),
    ],
)
def test_counts(changes: dict[str, Any], name: str, count: str) -> None:
    assert item(on_aws(**changes), name).counts == same(count)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        (
            {
                "network": {
                    **AWS["network"],
                    "interfaceEndpoints": ["ecr.api"],
                    "natGateways": "none",
                    "internetAccess": True,
                }
            },
            "NAT gateways",
        ),
        (
            {"cluster": {**AWS["cluster"], "secretsKeyArn": KEY}},
            "encryption keys",
        ),
        ({"modelCache": {"efs": {"id": "fs-0123456789abcdef0"}}}, "EFS throughput"),
        ({}, "load balancers"),
        ({}, "interface endpoints"),
        ({}, "FSx for Lustre"),
        ({}, "throughput of disks above 125 MiB/s"),
    ],
)
def test_nobody_pays_for_what_is_not_there(changes: dict[str, Any], name: str) -> None:
    assert name not in [each.name for each in on_aws(**changes).items]


def test_an_existing_cluster_is_paid_for_elsewhere() -> None:
    found = on_aws(
        cluster={**AWS["cluster"], "existing": True},
        network={
            "vpcId": "vpc-0a1b",
            "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
        },
    )
    assert [each.name for each in found.items] == ["node group g6-2xlarge", "disks of nodes"]
    assert any("The cluster exists" in note for note in found.notes)


@pytest.mark.parametrize(
    ("rule", "now", "least", "most"),
    [
        ({}, 1, 1, 1),
        ({"minNodes": 2}, 2, 2, 2),
        ({"minNodes": 2, "maxNodes": 5}, 2, 2, 5),
        ({"maxNodes": 5}, 1, 1, 5),
    ],
)
def test_bounds_of_settings(rule: dict[str, int], now: int, least: int, most: int) -> None:
    found = item(on_aws(**nodes(rule)), "node group g6-2xlarge")
    assert found.counts == Amounts(Decimal(now), Decimal(least), Decimal(most))


def test_spot_is_within_its_range_and_at_most_as_dear_as_on_demand() -> None:
    # AWS Spot Instance Advisor, us-east-1, g6.2xlarge: see spot.csv; on demand 0.9776.
    found = item(on_aws(**nodes({"capacity": "spot"})), "node group g6-2xlarge-spot")
    price, usd = found.price, found.usd_per_hour
    assert price is not None
    assert usd is not None
    assert (price.bought, price.high) == ("spot", Decimal("0.9776"))
    assert price.low <= price.usd < price.high
    assert usd == Amounts(price.usd, price.usd, price.high)


def test_the_dearest_of_several_types_counts_at_most() -> None:
    found = item(on_aws(**nodes({"spotTypes": ["g6.4xlarge", "gr6.4xlarge"]})), "node group g6-2xlarge")
    usd = found.usd_per_hour
    assert usd == Amounts(Decimal("0.9776"), Decimal("0.9776"), Decimal("1.5392"))


RESERVED = {"capacity": "odcr", "reservation": {"id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 3}}


def test_a_reservation_is_paid_for_whether_or_not_it_is_used() -> None:
    found = item(on_aws(**nodes(RESERVED)), "node group g6-2xlarge-odcr")
    assert found.counts == same("3")
    assert found.usd_per_hour == same("2.9328")


def test_a_commitment_of_ones_own_makes_a_reservation_cheaper() -> None:
    quote = fixed_quote(Decimal("0.5"), "2026-11-01", "ours")
    own = OwnPrices(instances={("us-east-1", "g6.2xlarge", Buying.RESERVED): quote})
    assert item(on_aws(own=own, **nodes(RESERVED)), "node group g6-2xlarge-odcr").usd_per_hour == same("1.5")
    # The shipped price of a commitment is a comparison alone.
    price = item(on_aws(), "node group g6-2xlarge").price
    assert price is not None
    assert price.committed is not None
    assert price.committed < price.usd == Decimal("0.9776")


def test_a_capacity_block_has_no_price_but_ones_own() -> None:
    block = {
        "capacity": "capacity-block",
        "reservation": {
            **RESERVED["reservation"],  # type: ignore[dict-item]
            "count": 2,
            "starts": "2020-01-01T11:30:00Z",
            "ends": "2099-01-01T11:30:00Z",
        },
    }
    manifests = written([served("one", flavor("p5.48xlarge", 8))])
    found = item(on_aws(manifests, **nodes(block, "p5.48xlarge")), "node group p5-48xlarge-capacity-block")
    assert (found.counts, found.usd_per_hour) == (same("2"), None)
    assert "the day of purchase" in found.unpriced
    quote = fixed_quote(Decimal(30), "2026-11-01", "ours")
    own = OwnPrices(instances={("us-east-1", "p5.48xlarge", Buying.CAPACITY_BLOCK): quote})
    priced = on_aws(manifests, own, **nodes(block, "p5.48xlarge"))
    assert item(priced, "node group p5-48xlarge-capacity-block").usd_per_hour == same("60")


@pytest.mark.parametrize(
    ("starts", "counts"),
    [("2099-01-01T11:30:00Z", (2, 2, 3)), ("2030-01-01T11:30:00Z", (2, 2, 5))],
    ids=["one after the other", "both at once"],
)
def test_capacity_blocks_that_follow_each_other(starts: str, counts: tuple[int, int, int]) -> None:
    held = {**RESERVED["reservation"], "starts": "2020-01-01T11:30:00Z", "ends": "2099-01-01T11:30:00Z", "count": 2}  # type: ignore[dict-item]
    later = {**held, "id": "cr-0c2d", "starts": starts, "ends": "2099-02-01T11:30:00Z", "count": 3}
    block = {"capacity": "capacity-block", "reservation": held, "nextBlocks": [later]}
    manifests = written([served("one", flavor("p5.48xlarge", 8))])
    found = item(on_aws(manifests, **nodes(block, "p5.48xlarge")), "node group p5-48xlarge-capacity-block")
    assert found.counts == Amounts(*map(Decimal, counts))


def test_nothing_is_guessed_of_a_type_without_a_price_in_a_region() -> None:
    zones = ["us-west-2a", "us-west-2b"]
    found = bill(
        written([served("chat", flavor("p5.4xlarge"))]),
        {**AWS, "region": "us-west-2", "network": {"zones": zones, "natGateways": "one"}},
    )
    reason = "no dated price of p5.4xlarge (on-demand) in us-west-2"
    assert {each.name: each.unpriced for each in found.unpriced}["node group p5-4xlarge"] == reason
    assert all("us-west-2" in each.unpriced for each in found.unpriced)
    (model,) = found.models
    assert (model.usd_per_hour, model.unpriced) == (None, reason)


def test_a_region_without_all_prices_has_those_of_its_nodes() -> None:
    """Prices: AWS price lists in yeo/ec2.shop at 74c9fd8a, data/ec2/sa-east-1-ondemand.json and data/ebs/ebs.json."""
    zones = ["sa-east-1a", "sa-east-1b"]
    found = bill(ONE, {**AWS, "region": "sa-east-1", "network": {"zones": zones, "natGateways": "one"}})
    priced = {each.name: each.price.usd for each in found.items if each.price and "node" in each.name}
    disk = priced.pop("disks of nodes")
    assert round(disk * 730, 9) == Decimal("0.152")
    assert priced == {"node group g6-2xlarge": Decimal("1.66173"), "system nodes": Decimal("0.16065")}
    assert {"control plane", "NAT gateways"} < {each.name for each in found.unpriced}


def test_simulated_nodes_cost_nothing_and_models_what_they_would() -> None:
    found = bill(ONE, LOCAL)
    assert (found.region, found.items, found.usd_per_hour) == ("", (), NOTHING)
    assert [model.usd_per_hour for model in found.models] == [same("0.9776")]
    assert found.date == "2026-07-20"
    assert "us-east-1" in found.notes[0]


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        # A g6.12xlarge has four GPUs for 4.6016; two models on one node cost what each takes of it.
        ([served("a", flavor("g6.12xlarge")), served("b", flavor("g6.12xlarge", 2))], ["1.1504", "2.3008"]),
        ([served("a", flavor("g6.12xlarge"), replicas=3)], ["3.4512"]),
        # Over two nodes of eight GPUs.
        ([served("a", flavor("p5.48xlarge", 8, TP="8", PP="2"))], ["110.08"]),
        # What it falls back to does not count.
        ([served("a", flavor("g6.2xlarge"), flavor("g5.2xlarge", name="g"))], ["0.9776"]),
        ([served("a", flavor("g6.2xlarge"), replicas=0)], ["0"]),
    ],
)
def test_models_cost_their_share_of_nodes(models: list[Any], expected: list[str]) -> None:
    assert [model.usd_per_hour for model in on_aws(written(models)).models] == [same(usd) for usd in expected]


def test_models_without_accelerators_share_nodes_too() -> None:
    samples = Path(__file__).parents[3] / "stacks/models"
    texts = [(samples / name).read_text() for name in ("qwen-cpu.yaml", "tiny-ollama.yaml")]
    found = on_aws("---\n".join(texts))
    pool = item(found, "node group m7i-2xlarge")
    assert pool.counts == same("1")
    # Of 8 vCPU, twice 2 and 2 are requested.
    assert [model.usd_per_hour for model in found.models] == [same("0.2016"), same("0.1008")]


def test_a_model_on_any_node_has_no_price() -> None:
    manifests = written([served("a", {"name": "any", "limits": {"nvidia.com/gpu": 1}})])
    (model,) = bill(manifests, {"kubeconfig": "k"}).models
    assert (model.usd_per_hour, model.accelerators) == (None, same("1"))
    assert "known instance type" in model.unpriced


_TYPES = {"g6.2xlarge": 1, "g6.12xlarge": 4, "p5.48xlarge": 8}
_MODELS = st.lists(
    st.tuples(st.sampled_from(sorted(_TYPES)), st.sampled_from([1, 2, 4, 8]), st.integers(0, 3)).filter(
        lambda model: model[1] <= _TYPES[model[0]]
    ),
    min_size=1,
    max_size=4,
)
_Shape = tuple[str, int, int]


def _bill(models: list[tuple[int, _Shape]]) -> Bill:
    every = [served(f"m{index}", flavor(kind, gpus), replicas=count) for index, (kind, gpus, count) in models]
    return on_aws(written(every), gpuNodes={"scaleToZero": True})


@settings(max_examples=25, deadline=None)
@given(_MODELS)
def test_laws(models: list[_Shape]) -> None:
    numbered = list(enumerate(models))
    whole = _bill(numbered)
    total = whole.usd_per_hour
    assert total == sum((each.usd_per_hour for each in whole.items if each.usd_per_hour), NOTHING)
    for each in (total, *(model.usd_per_hour for model in whole.models if model.usd_per_hour)):
        assert each.least <= each.now <= each.most
    assert _bill(numbered[::-1]) == whole, "the order of models matters"
    if len(models) > 1:
        fewer = _bill(numbered[:-1]).usd_per_hour
        assert (fewer.least, fewer.now, fewer.most) <= (total.least, total.now, total.most)
        assert fewer.now <= total.now
        assert fewer.most <= total.most
    shares = sum((model.usd_per_hour for model in whole.models if model.usd_per_hour), NOTHING)
    assert shares.now <= total.now, "models together cost no more than what is paid for"


@pytest.mark.parametrize(
    ("amount", "rounded"),
    [
        ("16.425", "16.43"),
        ("0.005", "0.01"),
        ("0.0049", "0.00"),
        # A month of a price by the month: the division leaves 28 digits.
        (str(Decimal("0.125") / 730 * 730), "0.13"),
    ],
)
def test_half_a_cent_is_rounded_up(amount: str, rounded: str) -> None:
    assert cents(Decimal(amount)) == Decimal(rounded)


def test_every_item_of_a_price_list_is_known_somewhere() -> None:
    """What the tables leave out, a file can say."""
    quote = fixed_quote(Decimal(1), "2026-11-01", "ours")
    own = OwnPrices(flat={("us-east-1", AwsItem.LUSTRE_250): quote})
    found = item(on_aws(own=own, modelCache={"fsx": {"zone": "us-east-1a"}}), "FSx for Lustre")
    assert found.usd_per_hour == same("1200")
    assert "lustre-250-gib" in item(on_aws(modelCache={"fsx": {"zone": "us-east-1a"}}), "FSx for Lustre").unpriced
