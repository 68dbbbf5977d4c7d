"""What else must be there before a resource is used, and goes after whatever uses it.

Pulumi deletes in the opposite order of the dependencies: what nothing depends on goes first.
"""

from collections.abc import Sequence

import pulumi


def after(needed: Sequence[pulumi.Resource], *outputs: pulumi.Output[str]) -> list[pulumi.Output[str]]:
    """Return outputs whose users depend on more than the resources that the outputs come from.

    Args:
        needed: What must be there, and stay there, for as long as an output is used.
        outputs: Properties of other resources.
    """
    # URNs are known in a preview too, so that outputs which are known remain so.
    there = [resource.urn for resource in needed]
    return [pulumi.Output.all(output, *there).apply(lambda known: str(known[0])) for output in outputs]
