"""The longest time that a replica may take until it is ready, for timeouts; what is unknown counts generously."""

from ...fleet.objects import Object
from .budget import IN_CONTAINER, USUAL_ENGINE, StartFacts, steps_of, total_of, usual_images
from .reading import downloads_before, patience_of, start_facts

_UNKNOWN_START = 3600
"""Seconds for a container of which neither the weights nor a probe tell anything: the progress deadline of rendered
Deployments."""


def longest_start(body: Object, facts: StartFacts | None = None) -> int:
    """Return the seconds until a replica is ready, on a new node and at most.

    Unmeasured engines count like the one that was measured most, and their images twice.

    Args:
        body: The workload.
        facts: What its start depends on; None if only the manifest is known.
    """
    facts = facts or start_facts(body, new_node=True, new_image=True, weights=None)
    # In a cluster whose nodes are not planned here, another tool may have to launch one.
    facts = facts._replace(new_node=True, new_image=True)
    usual = usual_images()
    if facts.engine not in usual and facts.image_gb is None:
        facts = facts._replace(image_gb=2 * max(image.gb for image in usual.values()))
    steps = steps_of(facts._replace(engine=USUAL_ENGINE))
    total = total_of(steps)
    if total.high is not None:
        return total.high
    # The kubelet restarts a container that outlasts its probes, so a start that succeeds is shorter. Probes do not
    # limit the download in an init container.
    outside = sum(step.high or 0 for step in steps if step.name not in IN_CONTAINER)
    patience = max((each.seconds for each in patience_of(body)), default=0)
    if not patience or downloads_before(body):
        patience = max(patience, _UNKNOWN_START)
    return outside + patience
