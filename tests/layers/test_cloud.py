"""Nothing outside the room of AWS knows its API, a label domain, an annotation or an ARN (design, "Layout")."""

import pytest

from tests.layers.cloud import aws_named
from tests.layers.modules import Module, modules

PROJECT = modules("components", "stacks", "workbench", "__main__.py")


@pytest.mark.parametrize("module", PROJECT, ids=lambda module: module.path)
def test_no_module_names_what_is_of_aws(module: Module) -> None:
    assert list(aws_named(module)) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("stacks/planted.py", "import pulumi_aws"),
        ("components/resources/serving/planted.py", "from pulumi_aws import eks"),
        ("components/plan/planted.py", "def f():\n    from pulumi_aws.ec2 import Vpc"),
        ("components/fleet/planted.py", "LABEL = 'eks.amazonaws.com/capacityType'"),
        ("components/fleet/nodes/planted.py", "RESOURCE = 'aws.amazon.com/neuron'"),
        ("components/fleet/nodes/planted.py", "LABEL = 'karpenter.sh/capacity-type'"),
        ("components/fleet/nodes/planted.py", "KIND = 'karpenter.k8s.aws/v1', 'EC2NodeClass'"),
        (
            "components/checks/front_door/planted.py",
            "def f(x):\n    return {f'service.beta.kubernetes.io/aws-load-balancer-{x}': ''}",
        ),
        ("stacks/planted.py", "PATTERN = '^arn:aws[a-z-]*:acm:'"),
        ("workbench/planted.py", "REGISTRY = '602401143452.dkr.ecr.us-east-1.amazonaws.com'"),
    ],
)
def test_a_planted_name_is_found(path: str, text: str) -> None:
    assert list(aws_named(Module(path, text))) != []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("components/clouds/aws/planted.py", "import pulumi_aws\nLABEL = 'karpenter.sh/nodepool'"),
        ("components/plan/planted.py", '"""As ``karpenter.sh/capacity-type`` says."""'),
        (
            "components/plan/planted.py",
            "CHART = 'karpenter'\nSECTION = 'aws'\nLABEL = 'node.kubernetes.io/instance-type'",
        ),
    ],
)
def test_other_names_are_not(path: str, text: str) -> None:
    assert list(aws_named(Module(path, text))) == []
