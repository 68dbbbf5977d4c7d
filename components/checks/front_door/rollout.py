"""Draining of proxies, so that their replacement does not interrupt requests.

A Network Load Balancer takes 3 to 5 minutes to register a target (AWS Load Balancer Controller, issues 1834 and 1786)
and still sends new connections to it for about 2 minutes after deregistration, up to 3 in some reports (its issue
2366, aws/containers-roadmap issue 470, istio/istio issue 35964). So a terminating proxy

1. accepts new connections for ``min_drain_duration``, and asks each client to reconnect after the current response;
2. then waits for its connections to close, for at most ``drain_timeout``.

Every request that arrives in the first period has the rest of the second one for its answer. Envoy Gateway's
shutdown manager does both (gateway v1.9.0, internal/cmd/envoy/shutdown_manager.go), and gives a pod 300 s more than
the drain before it is killed (``expectedTerminationGracePeriodSeconds`` in
internal/infrastructure/kubernetes/proxy/resource_provider.go).
"""

from typing import NamedTuple

from ...contract.texts.durations import seconds
from ...fleet.load_balancers import LoadBalancers

MIN_DRAIN = "3m"
_LONGEST = 99_999 * 3600
AFTER_DRAIN = 300
"""Seconds between the end of a proxy's drain and its kill: ``expectedTerminationGracePeriodSeconds``, see above."""
_AFTER_ANSWER = 60
"""Seconds that a connection may idle beyond the longest answer."""


class ProxyRollout(NamedTuple):
    """How proxies of the gateway, and pods behind load balancers, are replaced.

    Attributes:
        drain_timeout: How long a terminating proxy waits for its requests; None for the sum of
            ``min_drain_duration`` and the request timeout.
        min_drain_duration: How long a terminating proxy accepts new connections.
        idle_timeout: Idle timeout of load balancers; None for the request timeout plus one minute.
        readiness_gates: Whether pods behind load balancers on AWS become Ready only once the load balancer reaches
            them.
    """

    drain_timeout: str | None = None
    min_drain_duration: str = MIN_DRAIN
    idle_timeout: str | None = None
    readiness_gates: bool = True

    def drain_seconds(self, request_timeout: str) -> int:
        """Return the maximum drain time of a proxy."""
        if self.drain_timeout is not None:
            return seconds(self.drain_timeout)
        return min(seconds(self.min_drain_duration) + seconds(request_timeout), _LONGEST)

    def deregistration_seconds(self, request_timeout: str, balancers: LoadBalancers) -> int:
        """Return the deregistration delay of load balancers, within their limits."""
        return min(self.drain_seconds(request_timeout), balancers.longest_deregistration)

    def idle_seconds(self, request_timeout: str, balancers: LoadBalancers) -> int:
        """Return the idle timeout of load balancers: longer than any answer, within their limits.

        It is below their default only if set explicitly.
        """
        if self.idle_timeout is not None:
            return seconds(self.idle_timeout)
        _, default, longest = balancers.idle_seconds
        return max(default, min(seconds(request_timeout) + _AFTER_ANSWER, longest))


NO_CHANGES = ProxyRollout()
