"""IAM policies of nodes."""

import re
from collections.abc import Iterator, Sequence

JOIN_AND_PULL = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""What every node needs to join the cluster and to pull images."""
_POLICY = re.compile(r"(arn:aws[a-z-]*:iam::(aws|\d{12}):policy/)?[\w+=,.@/-]+", re.ASCII)


def node_policy_problems(policies: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with additional policies of nodes."""
    for policy in policies:
        if not _POLICY.fullmatch(policy):
            yield (
                "must be names of AWS managed policies, such as AmazonSSMManagedInstanceCore, or policy ARNs, "
                f"found {policy!r}"
            )
    names = [policy.rpartition("/")[2] for policy in (*JOIN_AND_PULL, *policies)]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            always = "; every node has it by default" if name in JOIN_AND_PULL else ""
            yield f"{name} is listed more than once{always}"
