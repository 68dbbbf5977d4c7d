"""The setting instanceTypes: types that the tables do not have, and only in the environment that describes them.

The figures of p6e-gb200.36xlarge are those of the EC2 user guide, "Accelerated computing": 144 vCPUs, 960 GiB, four
GB200 with 740 GB in all, and 22.5 TB on three local disks.
"""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from components.checks.memory.cases import Fit
from components.clouds.aws.instances import described_type
from components.clouds.aws.nodes.launch import interfaces
from components.contract.findings.ids import RuleId
from components.families import parse
from components.fleet.instances import DescribedType, Instance, instance, instances
from components.plan.faults import faults
from components.plan.plan import Plan, plan
from components.plan.review.planned import snapshot_of
from components.plan.settings import FleetSettings
from components.resources.serving.fleet.files import read_text
from stacks.costs import environment_bill
from stacks.settings import Settings
from stacks.settings_problems import with_settings_problems
from tests.plan.costs.stacks import AWS, settings_of

NAME = "p6e-gb200.36xlarge"
GB200: dict[str, Any] = {
    "vcpu": 144,
    "memoryGib": 960,
    "arch": "arm64",
    "accelerator": {"name": "GB200", "count": 4, "memoryGib": 185},
    "efaInterfaces": 16,
    "firstEfaCard": 1,
    "localNvmeGb": 22500,
    "addressPods": 737,
}
MODELS = f"""
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: qwen2-7b}}
spec:
  familyName: qwen2
  source: {{modelHub: {{modelID: Qwen/Qwen2-7B-Instruct}}}}
  inferenceConfig:
    flavors:
      - {{name: new, limits: {{nvidia.com/gpu: 1}}, params: {{INSTANCE-TYPE: {NAME}}}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: chat}}
spec: {{replicas: 2, modelClaim: {{modelName: qwen2-7b}}, backendRuntimeConfig: {{args: [--max-model-len, "16384"]}}}}
"""


def described(**changes: Any) -> dict[str, Any]:
    return {NAME: {**GB200, **changes}}


def stack(types: dict[str, Any], **further: Any) -> Settings:
    """The case: a model of us-east-1 with a type that the tables do not have, on an image of its own."""
    nodes = {"gpuNodes": {"types": {NAME: {"amiId": "ami-0123456789abcdef0"}}}}
    return settings_of({**AWS, **nodes, **({"instanceTypes": types} if types else {}), **further})


def planned(settings: Settings) -> Plan:
    found = plan(parse(MODELS, "models.yaml"), settings.environment(read_text))
    return with_settings_problems(found, settings, None)


def refusals(types: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        FleetSettings.model_validate({"instanceTypes": types})
    return [(".".join(map(str, each.path)), each.reason) for each in faults(caught.value, FleetSettings)]


@pytest.mark.parametrize(
    ("types", "path", "reason"),
    [
        ({"g5.2xlarge": GB200}, "instanceTypes.g5.2xlarge", "is in the tables, whose figures count: remove it"),
        ({"m8g.large": {"vcpu": 2, "memoryGib": 8}}, "instanceTypes.m8g.large", "is in the tables"),
        ({"gb200": GB200}, "instanceTypes.gb200", "must match pattern"),
        ({NAME: {"memoryGib": 960}}, f"instanceTypes.{NAME}.vcpu", "is required"),
        (described(vcpu="144"), f"instanceTypes.{NAME}.vcpu", "found '144'; write it without quotes"),
        (described(memoryGib=0), f"instanceTypes.{NAME}.memoryGib", "found 0"),
        (described(memoryGib=float("inf")), f"instanceTypes.{NAME}.memoryGib", "found inf"),
        (described(arch="aarch64"), f"instanceTypes.{NAME}.arch", "'amd64' or 'arm64', found 'aarch64'"),
        (described(gpus=4), f"instanceTypes.{NAME}.gpus", "unknown key"),
        (described(accelerator={"name": "GB200"}), f"instanceTypes.{NAME}.accelerator.count", "is required"),
        (
            described(accelerator={**GB200["accelerator"], "manufacturer": "Nvidia"}),
            f"instanceTypes.{NAME}.accelerator.manufacturer",
            "found 'Nvidia'",
        ),
        (
            described(efaInterfaces=0),
            f"instanceTypes.{NAME}.firstEfaCard",
            "has no effect without efaInterfaces; set efaInterfaces, or remove it",
        ),
    ],
)
def test_what_is_refused(types: dict[str, Any], path: str, reason: str) -> None:
    assert [(where, why) for where, why in refusals(types) if where == path and reason in why], refusals(types)


def test_a_description_is_computed_like_a_row_of_the_tables() -> None:
    for name, node in instances().items():
        facts = DescribedType(
            name=name,
            vcpu=node.vcpu,
            memory_gib=node.memory_gib,
            arch=node.arch,
            accelerator=node.accelerator,
            manufacturer=node.manufacturer,
            accelerators=node.accelerators,
            accelerator_memory_gib=node.accelerator_memory_gib,
            fabric_interfaces=node.fabric_interfaces,
            local_nvme_gb=node.local_nvme_gb,
            address_pods=node.address_pods,
        )
        expected = replace(node, product="", is_suggested=True)
        assert described_type(facts) == expected, name


def test_its_nodes_offer_what_the_eks_image_leaves() -> None:
    node = FleetSettings.model_validate({"instanceTypes": described()}).types[NAME]
    # 6 %, 1 %, 0.5 % and 0.5 % of the first four cores and 0.25 % of the other 140.
    assert node.allocatable_cpu == Decimal("143.57")
    # 983,040 MiB less 64 on Graviton, 7.5 % (73,724), 255 and 11 for each of 737 pods, and 100.
    assert node.allocatable_memory == Decimal(982_976 - 73_724 - 255 - 8_107 - 100) * 2**20
    assert (node.family, node.accelerator_resource) == ("p6e-gb200", "nvidia.com/gpu")
    assert [each.card for each in interfaces(node)] == [0, *range(1, 17)]


def test_without_addresses_nodes_reserve_no_less_than_types_of_their_size() -> None:
    without = {key: value for key, value in GB200.items() if key != "addressPods"}
    node = FleetSettings.model_validate({"instanceTypes": {NAME: without}}).types[NAME]
    alike = [each for each in instances().values() if each.vcpu <= 144]
    assert node.address_pods == max(each.address_pods for each in alike)


def rules(found: Plan) -> set[str]:
    return {str(problem.rule) for problem in found.problems if problem.severity == "error"}


def test_a_described_type_is_planned_and_an_undescribed_one_is_refused() -> None:
    [verdict] = planned(stack(described())).verdicts
    assert (verdict.verdict.fit, verdict.instance_type) == (Fit.FITS, NAME)
    refused = planned(stack({}))
    assert RuleId.NODES_TYPE_UNKNOWN in rules(refused)
    assert any("instanceTypes describes types that the tables do not have yet" in p.reason for p in refused.problems)


def test_each_environment_has_its_own_description_and_nothing_stays() -> None:
    def nodes(count: int) -> list[int]:
        types = described(accelerator={**GB200["accelerator"], "count": count})
        return [group.nodes for group in planned(stack(types)).groups]

    # Two replicas with one GPU each.
    assert (nodes(4), nodes(1), nodes(4)) == ([1], [2], [1])
    assert instance(NAME) is None


def test_without_an_image_of_its_own_the_message_does_not_claim_that_aws_has_none() -> None:
    found = planned(stack(described(), gpuNodes={}))
    [reason] = [p.reason for p in found.problems if p.rule == RuleId.NODES_TYPE_NOT_OFFERED]
    assert f"whether the EKS image (al2023) supports {NAME} is not known: only instanceTypes describes it" in reason
    assert f"gpuNodes.types.{NAME}.amiId" in reason


PRICES = f"""
date: 2026-11-01
source: contract
regions:
  us-east-1:
    instances:
      {NAME}: {{onDemand: 100}}
"""


@pytest.mark.parametrize("types", [described(), {}])
def test_a_price_of_a_described_type(types: dict[str, Any]) -> None:
    settings = stack(types, prices="prices.yaml")
    environment = settings.environment(lambda _: PRICES)
    if not types:
        [problem] = environment.price_problems
        assert f"unknown instance type {NAME!r}" in problem.reason
        return
    assert environment.price_problems == ()
    found = plan(parse(MODELS, "models.yaml"), environment)
    bill = environment_bill(settings, found)
    # Two of four GPUs of a node for 100 dollars an hour; the nodes are whole ones.
    assert [cost.usd_per_hour.now for cost in bill.models if cost.usd_per_hour] == [Decimal(50)]
    [item] = [each for each in bill.items if NAME.replace(".", "-") in each.name]
    assert item.price is not None
    assert (item.price.usd, item.price.date) == (Decimal(100), "2026-11-01")


def test_the_plan_says_what_comes_from_the_settings() -> None:
    settings = stack(described())
    found = planned(settings)
    snapshot = snapshot_of(found, "gb", environment_bill(settings, found))
    assert snapshot.given == (f"instance types {NAME} (instanceTypes)",)
    assert [group.node.accelerator for group in snapshot.groups if group.node] == ["GB200"]


def test_system_nodes_may_be_of_a_described_type() -> None:
    def found(types: dict[str, Any]) -> tuple[list[str], Instance | None, int]:
        cluster = {**AWS["cluster"], "systemInstanceTypes": ["m99g.large"]}
        settings = settings_of({**AWS, "cluster": cluster, **types})
        reasons = [each.reason for each in with_settings_problems(plan_of(settings), settings, None).problems]
        environment = settings.cloud_environment
        assert environment is not None
        assert environment.nodes is not None
        return [each for each in reasons if "m99g" in each], instance("m99g.large"), environment.nodes.system_vcpus

    def plan_of(settings: Settings) -> Plan:
        return plan(parse("", "models.yaml"), settings.environment())

    reasons, _, _ = found({})
    assert reasons
    assert all(each.startswith("unknown instance type 'm99g.large'") for each in reasons)
    types = {"instanceTypes": {"m99g.large": {"vcpu": 2, "memoryGib": 8, "arch": "arm64"}}}
    # Two nodes of two vCPUs; nothing is known of the type beside its environment.
    assert found(types) == ([], None, 4)
