"""Names of AWS, which belong to the room of AWS."""

import re
from collections.abc import Iterator

from tests.layers.modules import Module
from tests.layers.order import within

ROOM = "components/clouds/aws"
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
    """Yield what a module outside the room knows of AWS' API, labels, annotations and ARNs."""
    if module.is_in(ROOM):
        return
    yield from (f"{module.path} imports {name}" for name in sorted(module.imports) if within(name, API))
    for word in module.words:
        if word.quoted and _NAMES.search(word.text):
            yield f"{module.path}:{word.line}: {word.text!r} is a name of AWS"
