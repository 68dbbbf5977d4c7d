"""Reports waits that are longer than the credentials of an update allow."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from ...contract.texts.durations import duration_text
from ..environment import Environment
from ..spans import span
from .planned import ObjectTimeouts

if TYPE_CHECKING:
    from ...fleet.cloud import NodePlan

_USUAL_SESSION = 3600
"""Seconds of the sessions that aws-actions/configure-aws-credentials asks for, and the default of an IAM role (IAM
API reference, CreateRole, MaxSessionDuration)."""
_LONGEST_SESSION = 12 * 3600
"""Maximum of ``MaxSessionDuration``."""


def check_timeouts(
    timeouts: ObjectTimeouts, groups: "Sequence[NodePlan]", environment: Environment
) -> Iterator[Problem]:
    """Report the longest wait if it outlasts the session; a note if its length is not known.

    Args:
        timeouts: Timeouts of the objects.
        groups: Node groups of the cloud.
        environment: The environment.
    """
    waits, cloud = environment.waits, environment.cloud
    if cloud is None or cloud.node_policy is None or not waits.by_stack:
        return
    session = waits.session or _USUAL_SESSION
    outlasting: Mapping[str, int] = {
        name: seconds
        for name, seconds in {
            **{f"node group {group.name}": group.longest_update for group in groups},
            **timeouts.expected,
        }.items()
        if seconds > session
    }
    if not outlasting:
        return
    longest, seconds = max(outlasting.items(), key=lambda item: item[1])
    more = len(outlasting) - 1
    others = f"; {more} more resource{'s' * (more > 1)} may take longer than the session" if more else ""
    if waits.session:
        known = f"the credentials of an update last {span(session)}"
    else:
        known = f"credentials that CI gets by OIDC last {span(session)} by default"
    if seconds <= _LONGEST_SESSION:
        setting = duration_text(-(-seconds // 3600) * 3600)
        step = (
            f"where CI deploys, raise the maximum session duration of its role, and the duration that the workflow "
            f"asks for (role-duration-seconds), to at least {setting}, and set {setting} here"
        )
    else:
        step = "no session of a role is that long: deploy with credentials that renew themselves"
    reason = f"an update of {longest} may take {span(seconds)}{others}, and {known}; {step}"
    severity = Severity.WARNING if waits.session else Severity.NOTE
    yield Problem(
        environment.file, 0, "", "", "credentials.sessionDuration", reason, severity, rule=RuleId.UPDATE_SESSION
    )
