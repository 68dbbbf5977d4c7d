"""The routes to what nodes and pods contact, and the findings where no route exists."""

from typing import Any

import pytest
import yaml

from components.clouds.aws.facts.eks import addons
from components.clouds.aws.reach import (
    Exits,
    Route,
    Setup,
    callers,
    check_reach,
    endpoint_services,
    has_endpoint,
    image_route,
    interface_services,
    service_route,
    services,
    weights_route,
)
from components.clouds.aws.traffic import hub_of
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.families import objects
from components.fleet.downloads import Download
from components.plan.plan import plan
from stacks.cloud_args import cloud_problems
from tests.fleets import open_model, playground
from tests.plan.costs.stacks import AWS, settings_of

REGION = "us-east-1"
OPEN, CLOSED, UNKNOWN = Exits(internet=True), Exits(internet=False), Exits(internet=None, owned=False)
OWN = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
# EKS user guide, "Deploy private clusters with limited internet access": what every private cluster with EKS Pod
# Identity and the Cluster Autoscaler has.
PRIVATE = ("autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks-auth")
KARPENTERS = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sqs", "ssm")


def endpoints(*names: str, **more: Any) -> Exits:
    return Exits(internet=False, endpoints=frozenset({*names, "s3"}), **more)


def test_every_add_on_with_a_role_is_in_the_table() -> None:
    """An add-on gets a role to call AWS; FSx and EFS only for volumes that they create, and none is here."""
    titles = {caller.title for caller in callers(Setup(addons=[*addons()]))}
    assert {f"add-on {name}" for name, addon in addons().items() if addon.service_account} <= titles


def test_services_have_endpoints_or_not() -> None:
    assert set(interface_services()) | {"s3"} == set(endpoint_services())
    assert {name for name in services() if not has_endpoint(name)} == {"iam", "pricing.api"}
    assert {*PRIVATE, *KARPENTERS, "elasticloadbalancing", "logs", "ssmmessages", "sts"} <= set(interface_services())


@pytest.mark.parametrize(
    ("service", "exits", "route"),
    [
        ("ec2", OPEN, Route.NAT),
        ("ec2", endpoints("ec2"), Route.INTERFACE),
        ("s3", endpoints(), Route.GATEWAY),
        ("ec2", endpoints("sts"), Route.NONE),
        ("iam", endpoints("iam"), Route.NONE),
        ("ec2", UNKNOWN, Route.UNKNOWN),
        ("iam", OPEN, Route.NAT),
    ],
)
def test_route_of_a_service(service: str, exits: Exits, route: Route) -> None:
    assert service_route(service, exits) is route


@pytest.mark.parametrize(
    ("image", "exits", "route"),
    [
        ("vllm/vllm-openai:v0.20.0", OPEN, Route.NAT),
        ("vllm/vllm-openai:v0.20.0", endpoints(*PRIVATE), Route.NONE),
        ("public.ecr.aws/karpenter/controller", endpoints(*PRIVATE), Route.NONE),
        (f"{OWN}/docker-hub/vllm/vllm-openai:v0.20.0", endpoints(*PRIVATE), Route.INTERFACE),
        (f"{OWN}/mine:1", endpoints("ecr.api"), Route.NONE),
        (f"{OWN}/mine:1", CLOSED, Route.NONE),
        (f"{OWN.replace('us-east-1', 'us-west-2')}/mine:1", endpoints(*PRIVATE), Route.NONE),
        (f"{OWN}/mine:1", UNKNOWN, Route.UNKNOWN),
    ],
)
def test_route_of_an_image(image: str, exits: Exits, route: Route) -> None:
    assert image_route(image, REGION, exits) is route


@pytest.mark.parametrize(
    ("address", "host", "closed", "in_s3"),
    [
        ("Qwen/Qwen3-8B", "huggingface.co", Route.NONE, Route.NONE),
        ("https://huggingface.co/a/b/resolve/main/c.gguf", "huggingface.co", Route.NONE, Route.NONE),
        ("https://user:secret@mirror.example.com:8443/c.gguf", "mirror.example.com", Route.NONE, Route.NONE),
        ("ms://a/b", "modelscope.cn", Route.NONE, Route.NONE),
        ("gs://bucket/a", "storage.googleapis.com", Route.NONE, Route.NONE),
        ("s3://bucket/a", "s3://bucket/a", Route.NONE, Route.GATEWAY),
        (
            "https://bucket.s3.us-east-1.amazonaws.com/a",
            "bucket.s3.us-east-1.amazonaws.com",
            Route.NONE,
            Route.GATEWAY,
        ),
        ("http://mirror.models.svc/a", "mirror.models.svc", Route.INSIDE, Route.INSIDE),
        ("pvc://library/a.gguf", "pvc://library/a.gguf", Route.INSIDE, Route.INSIDE),
        ("/models/a", "/models/a", Route.INSIDE, Route.INSIDE),
    ],
)
def test_route_of_weights(address: str, host: str, closed: Route, in_s3: Route) -> None:
    if closed is not Route.INSIDE and "s3" not in host:
        assert hub_of(address) == host
    assert weights_route(address, CLOSED) is closed
    assert weights_route(address, endpoints()) is in_s3


def found(setup: Setup, exits: Exits) -> list[Problem]:
    return list(check_reach(setup, exits, REGION, "Pulumi.dev.yaml"))


@pytest.mark.parametrize(
    ("setup", "exits"),
    [
        (Setup(charts=["cluster-autoscaler"]), endpoints(*PRIVATE)),
        (Setup(charts=["cluster-autoscaler"]), OPEN),
        (Setup(charts=["karpenter"]), UNKNOWN),
        (Setup(addons=["aws-ebs-csi-driver", "aws-efs-csi-driver", "aws-fsx-csi-driver"]), endpoints(*PRIVATE)),
        (Setup(web_identity=True, pod_identity=False), endpoints("ec2", "ecr.api", "ecr.dkr", "sts")),
        (Setup(models_in_s3=True), endpoints(*PRIVATE)),
        (Setup(downloads=[Download(f"{OWN}/mine:1", "Playground/p", is_image=True)]), endpoints(*PRIVATE)),
    ],
)
def test_nothing_is_said_where_everything_is_reached_or_unknown(setup: Setup, exits: Exits) -> None:
    assert found(setup, exits) == []


@pytest.mark.parametrize(
    ("setup", "exits", "path", "words"),
    [
        (
            Setup(),
            endpoints(),
            "network.interfaceEndpoints",
            "no endpoint for ec2 (nodes, add-on vpc-cni), ecr.api (images in ECR of the region), ecr.dkr (images in "
            "ECR of the region), eks-auth (EKS Pod Identity); add [ec2, ecr.api, ecr.dkr, eks-auth] to "
            "network.interfaceEndpoints, or set network.natGateways: one",
        ),
        (
            Setup(charts=["load-balancer-controller"]),
            endpoints(*PRIVATE),
            "network.interfaceEndpoints",
            "elasticloadbalancing (AWS Load Balancer Controller)",
        ),
        (
            Setup(addons=["amazon-cloudwatch-observability"]),
            endpoints(*PRIVATE),
            "network.interfaceEndpoints",
            "add [logs, monitoring] to network.interfaceEndpoints",
        ),
        (
            Setup(charts=["karpenter"]),
            endpoints(*KARPENTERS),
            "network.natGateways",
            "iam (Karpenter) has no endpoint in a VPC; set gpuNodes.provisioner: managed, or set",
        ),
        (
            Setup(bastion=True),
            endpoints(*PRIVATE),
            "network.interfaceEndpoints",
            "ssm (the bastion), ssmmessages (the bastion)",
        ),
        # An existing VPC has no gateway endpoint of ours.
        (
            Setup(),
            Exits(internet=False, endpoints=frozenset(PRIVATE), owned=False),
            "network.interfaceEndpoints",
            "create a gateway endpoint for s3 in the VPC, and list the endpoints that the VPC already has in "
            "network.existingEndpoints",
        ),
        (
            Setup(downloads=[Download("quay.io/a/b:1", "Playground/p", is_image=True)]),
            endpoints(*PRIVATE),
            "imageCache",
            "nodes pull images from quay.io (quay.io/a/b:1); add quay.io to imageCache.registries; or set",
        ),
        # Neither can be cached: one is of a chart, one of a pod.
        (
            Setup(
                downloads=[
                    Download("nvcr.io/nvidia/k8s-device-plugin", "chart nvidia-device-plugin", is_image=True),
                    Download("nvcr.io/nim/x:1", "Playground/p", is_image=True),
                ]
            ),
            endpoints(*PRIVATE),
            "imageCache",
            "list it in prerequisites.present (Bottlerocket nodes bring the NVIDIA device plugin), because ECR "
            "cannot cache nvcr.io; name images in a private registry in Playground/p",
        ),
    ],
)
def test_what_is_not_reached_is_an_error_with_the_setting(setup: Setup, exits: Exits, path: str, words: str) -> None:
    problems = {problem.path: problem for problem in found(setup, exits)}
    assert problems[path].rule is RuleId.NETWORK_UNREACHABLE
    assert problems[path].severity is Severity.ERROR
    assert words in problems[path].reason


def test_hosts_may_have_an_ipv6_address_and_aws_services_do_not() -> None:
    setup = Setup(downloads=[Download("quay.io/a/b:1", "Playground/p", is_image=True)])
    services_problem, images = found(setup, endpoints(ipv6=True))
    assert (services_problem.severity, images.severity) == (Severity.ERROR, Severity.WARNING)
    assert "over IPv4" in services_problem.reason
    assert "works only from hosts with an IPv6 address" in images.reason


def said(network: dict[str, Any], *documents: Any, **changes: Any) -> dict[str, list[str]]:
    """Reasons of the rule by path, in a plan of a stack."""
    values = {**AWS, "network": {**AWS["network"], **network}, "prerequisites": {"install": True}, **changes}
    models = objects([*(documents or (open_model(), playground("p", "m")))], "models.yaml")
    reasons: dict[str, list[str]] = {}
    for problem in plan(models, settings_of(values).environment()).problems:
        if problem.rule is RuleId.NETWORK_UNREACHABLE:
            reasons.setdefault(problem.path, []).append(problem.reason)
    return reasons


def test_a_stack_without_a_way_out_cannot_work() -> None:
    """Services, images of models and charts, and weights, each with its own setting."""
    closed = said({"natGateways": "none"})
    assert list(closed) == ["network.interfaceEndpoints", "imageCache", ""]
    assert "docker.io (" in closed["imageCache"][0]
    assert "registry.k8s.io (registry.k8s.io/autoscaling/cluster-autoscaler" in closed["imageCache"][0]
    assert "download weights from huggingface.co; copy the weights to a bucket or a claim" in closed[""][0]


@pytest.mark.parametrize(
    "network", [{}, {"natGateways": "per-zone"}, {"natGateways": "none", "internetAccess": True}]
)
def test_a_stack_with_a_way_out_has_no_such_problem(network: dict[str, Any]) -> None:
    assert said(network) == {}


def test_weights_of_a_mirror_in_the_cluster_are_reached() -> None:
    mirrored = playground(
        "p", "m", backendRuntimeConfig={"envs": [{"name": "HF_ENDPOINT", "value": "http://mirror.hub.svc"}]}
    )
    assert "" in said({"natGateways": "none"})
    assert "" not in said({"natGateways": "none"}, open_model(), mirrored)


EXISTING = {
    "vpcId": "vpc-0a1b",
    "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"},
    "zones": [],
    "natGateways": "one",
}


@pytest.mark.parametrize(
    ("network", "missing"),
    [
        ({}, ""),
        ({"internetAccess": True}, ""),
        ({"internetAccess": False}, "add [autoscaling, ec2, ecr.api, ecr.dkr, eks-auth]"),
        (
            {"internetAccess": False, "existingEndpoints": ["s3", "ec2", "ecr.api", "ecr.dkr"]},
            "add [autoscaling, eks-auth]",
        ),
        ({"internetAccess": False, "existingEndpoints": ["s3", *PRIVATE]}, ""),
    ],
)
def test_an_existing_vpc_is_checked_as_far_as_it_is_known(network: dict[str, Any], missing: str) -> None:
    values = {key: value for key, value in EXISTING.items() if key not in ("zones", "natGateways")}
    changes = {**AWS, "network": {**values, **network}, "prerequisites": {"install": True}}
    environment = settings_of(changes).environment()
    reasons = [
        problem.reason
        for problem in plan(objects([open_model(), playground("p", "m")], "models.yaml"), environment).problems
        if problem.path == "network.interfaceEndpoints"
    ]
    assert [missing in reason for reason in reasons] == ([True] if missing else [])


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ({"existingEndpoints": ["ec2"], "interfaceEndpoints": ["ec2"]}, "would have a second endpoint in the VPC"),
        ({"internetAccess": False}, "the VPC has NAT gateways; set natGateways: none, or remove it"),
    ],
)
def test_settings_that_contradict(network: dict[str, Any], words: str) -> None:
    with pytest.raises(Exception, match="network") as caught:
        settings_of({**AWS, "network": {**AWS["network"], **network}})
    assert words in str(caught.value)


def test_unknown_services_are_named() -> None:
    settings = settings_of({**AWS, "network": {**AWS["network"], "existingEndpoints": ["ec2", "ec3"]}})
    # The other problem: this network reaches the internet without them.
    problem, _ = (one for one in cloud_problems(settings) if one.path == "network.existingEndpoints")
    assert "unknown service 'ec3'; did you mean 'ec2'?" in problem.reason


@pytest.mark.parametrize(
    ("network", "words"),
    [
        ({}, "the private subnets reach the internet"),
        ({"natGateways": "none", "internetAccess": True}, "the private subnets reach the internet"),
        ({**EXISTING, "internetAccess": True}, "the private subnets reach the internet"),
        (EXISTING, "is unknown, and so nothing is checked; set internetAccess: false"),
        ({"natGateways": "none"}, ""),
        ({**EXISTING, "internetAccess": False}, ""),
    ],
)
def test_existing_endpoints_without_effect_are_named(network: dict[str, Any], words: str) -> None:
    values = {**AWS["network"], **network, "existingEndpoints": ["ec2"]}
    if "vpcId" in network:
        values = {key: value for key, value in values.items() if key not in ("zones", "natGateways")}
    settings = settings_of({**AWS, "network": values})
    found = [one for one in cloud_problems(settings) if one.path == "network.existingEndpoints"]
    assert [words in one.reason for one in found] == ([True] if words else [])
    assert {one.rule for one in found} <= {RuleId.FIELD_NO_EFFECT}
    assert all(one.severity == Severity.WARNING for one in found)


def test_models_of_every_kind_name_their_sources() -> None:
    """LLMKube downloads a file once into a claim: it is downloaded all the same."""
    manifests = yaml.safe_load_all("""
apiVersion: inference.llmkube.dev/v1alpha1
kind: Model
metadata: {name: tiny}
spec:
  source: https://huggingface.co/a/b/resolve/main/c.gguf
  hardware: {accelerator: cuda, gpu: {enabled: true, count: 1}}
---
apiVersion: inference.llmkube.dev/v1alpha1
kind: InferenceService
metadata: {name: tiny}
spec: {modelRef: tiny, nodeSelector: {node.kubernetes.io/instance-type: g5.2xlarge}, resources: {gpu: 1}}
""")
    assert "huggingface.co" in said({"natGateways": "none"}, *manifests)[""][0]
