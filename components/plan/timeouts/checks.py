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

_HOUR = 3600
_USUAL_SESSION = _HOUR
"""Seconds of the sessions that aws-actions/configure-aws-credentials asks for, and the default of an IAM role (IAM
API reference, CreateRole, MaxSessionDuration)."""
_LONGEST_SESSION = 12 * _HOUR
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
    if waits.session:
        known = f"the credentials of an update last {span(session)}"
    else:
        known = f"credentials that CI gets by OIDC last {span(session)} by default"
    # Whole hours, so that a small change of an estimate is no other finding.
    setting = duration_text(-(-seconds // _HOUR) * _HOUR)
    if seconds <= _LONGEST_SESSION:
        takes = f"up to {setting}"
        step = (
            f"set {setting} here once sessions last that long: raise the maximum session duration of the role of CI, "
            "and the duration that its workflow asks for (role-duration-seconds)"
        )
    else:
        takes = f"more than {span(_LONGEST_SESSION)}"
        step = "no session of a role is that long: deploy with credentials that renew themselves"
    reason = f"an update of {longest} may take {takes}, and {known}; {step}"
    severity = Severity.WARNING if waits.session else Severity.NOTE
    yield Problem(
        file=environment.file,
        path="credentials.sessionDuration",
        reason=reason,
        severity=severity,
        rule=RuleId.UPDATE_SESSION,
    )
