"""Names of AWS, which belong to its column."""

import re
from collections.abc import Iterator

from tests.layers.modules import Module, within

ROOMS = ("components/clouds/aws", "components/resources/aws", "policy", "tools/acceptance")
"""The column of AWS, the policy pack, which judges resources of AWS, and the acceptance test on AWS; the latter two
import nothing of ours."""
API = "pulumi_aws"
_NAMES = re.compile(
    r"""
      amazonaws\.com          # labels and endpoints of EKS, EC2 and their device plugins
    | aws\.amazon\.com        # labels and resources of Neuron
    | karpenter\.             # labels, annotations and groups of Karpenter: karpenter.sh, karpenter.k8s.aws
    | k8s\.aws\b              # groups of the controllers of EKS
    | kubernetes\.io/aws-     # annotations for the AWS Load Balancer Controller
    | \barn:                  # names of AWS' resources
    """,
    re.VERBOSE,
)


def aws_named(module: Module) -> Iterator[str]:
    """Yield what a module outside its rooms knows of AWS' API, labels, annotations and ARNs."""
    if module.is_in(*ROOMS):
        return
    for imported in module.all_imports:
        if within(imported.name, API):
            yield f"{module.path}:{imported.line}: imports {imported.name}"
    for word in module.words:
        if word.quoted and _NAMES.search(word.text):
            yield f"{module.path}:{word.line}: {word.text!r} is a name of AWS"
