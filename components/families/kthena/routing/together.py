"""What is wrong with several routes together: Kthena's router knows them by the name of their model alone."""

from collections.abc import Iterator, Sequence

from ....contract.findings.ids import RuleId
from ....contract.problems import Problem
from ....fleet.rendered import Rendered


def shared_models(rendered: Sequence[Rendered]) -> Iterator[Problem]:
    """Yield routes for a model that another one has: the router takes the last one that it reads."""
    routed = {
        endpoint.model
        for item in rendered
        for endpoint in item.endpoints
        if any(backend.router for backend in endpoint.backends)
    }
    first: dict[str, Rendered] = {}
    for item in rendered:
        routes = [endpoint for endpoint in item.endpoints if endpoint.weights.kind == "ModelRoute"]
        for endpoint in (each for each in routes if each.model in routed):
            other = first.setdefault(endpoint.model, item)
            if other is not item:
                reason = (
                    f"{endpoint.model!r} is routed by {other.source.where} too, and Kthena's router knows one route "
                    "for a model in the whole cluster; rename one of the two"
                )
                yield endpoint.origin.problem(reason, rule=RuleId.NAMES_TAKEN)
