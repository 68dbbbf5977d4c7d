"""Support of Kubernetes versions by EKS, and what happens when it ends (aws-gpu spec 5).

Sources in the EKS user guide: "View current cluster upgrade policy", "Understand the Kubernetes version lifecycle on
EKS" and "Roll back a cluster to a previous Kubernetes version". With the policy ``STANDARD``, EKS upgrades the
control plane at the end of standard support to the next version in standard support, so extended support is never
billed. With ``EXTENDED``, the cluster keeps its version, costs more per hour from that day, and is upgraded a year
later. Neither upgrade changes add-ons or nodes. The policy can be changed only while the version is in standard
support. A cluster can be rolled back by one minor version within seven days of an upgrade, and not after that.
"""

import datetime
from collections.abc import Iterator

from ...contract.findings.ids import RuleId
from ...contract.problems import Problem, Severity
from .facts.eks import EksVersion, versions
from .words import Support

USUAL_VERSION = "1.35"
"""Default version of a new cluster."""
NOTICE = datetime.timedelta(days=60)
"""How long before the end of support the warnings start (aws-gpu spec 18, A10)."""
DESCRIBED_IN = "cluster.kubernetesVersions"
"""The setting that describes versions."""


def check_version(
    version: str,
    today: datetime.date,
    file: str,
    key: str,
    support: Support | None = Support.STANDARD,
    described: EksVersion | None = None,
) -> Iterator[Problem]:
    """Report a version that EKS does not have, or whose support has ended or ends within ``NOTICE``.

    For an existing cluster there are only warnings: it keeps running with any version.

    Args:
        version: The version, such as ``1.35``.
        today: The reference date.
        file: File with the version, for the message.
        key: Key of the version in the file.
        support: The cluster's upgrade policy; None for an existing cluster, whose policy is unknown.
        described: What settings say of the version, if the tables do not have it.
    """
    if version not in versions() and (described or support is None):
        yield _unchecked(version, file, key, described)
    known = versions().get(version, described)
    supported = ", ".join(name for name, facts in versions().items() if not _over(facts.extended_until, today))
    if known is None:
        if support is not None:
            reason = (
                f"unknown EKS version {version!r}; supported versions: {supported}; {DESCRIBED_IN} describes "
                "versions that the tables do not have yet"
            )
            yield Problem(file=file, path=key, reason=reason, rule=RuleId.SETTINGS)
    elif _over(known.extended_until, today) and support is not None:
        reason = (
            f"EKS {version} has been out of support since {known.extended_until}; supported versions: {supported}"
        )
        yield Problem(file=file, path=key, reason=reason, rule=RuleId.SETTINGS)
    elif known.standard_until and _over(known.standard_until - NOTICE, today):
        rule, reason = _ending(known, known.standard_until, today, support)
        yield Problem(file=file, path=key, reason=reason, severity=Severity.WARNING, rule=rule)


def _unchecked(version: str, file: str, key: str, described: EksVersion | None) -> Problem:
    """Return the note on a version that the tables do not have."""
    chosen = [
        name
        for name, pins in (
            ("node images", described and described.images),
            ("add-ons", described and described.addons),
        )
        if not pins
    ]
    left = f", and EKS chooses the releases of {' and of '.join(chosen)}" if chosen else ""
    reason = (
        f"whether charts, operators and manifests work with Kubernetes {version} is not checked{left}, because "
        f"{f'only {DESCRIBED_IN} describes it' if described else 'the tables do not have it'}; compare it with their "
        "documentation, and with the APIs that the release removes"
    )
    if not described:
        reason += f"; {DESCRIBED_IN} describes when its support ends"
    return Problem(file=file, path=key, reason=reason, severity=Severity.NOTE, rule=RuleId.RELEASE_UNCHECKED)


def is_extended(version: str, today: datetime.date, support: Support, described: EksVersion | None = None) -> bool:
    """Return whether a cluster is in extended support, which is billed.

    With the policy ``STANDARD`` it never is, because EKS has upgraded the cluster.
    """
    known = versions().get(version, described)
    return support == Support.EXTENDED and known is not None and _over(known.standard_until, today)


def extended_soon(
    version: str, today: datetime.date, support: Support, described: EksVersion | None = None
) -> datetime.date | None:
    """Return the first day on which extended support is billed, if it is within ``NOTICE``."""
    known = versions().get(version, described)
    until = known.standard_until if known and support == Support.EXTENDED else None
    return until if until and not _over(until, today) and _over(until - NOTICE, today) else None


def upgraded_to(version: str, today: datetime.date) -> str:
    """Return the version to which EKS has upgraded a cluster with the policy ``STANDARD`` by a given day.

    This is the first version from ``version`` on that is in standard support; empty if none is known. The user may
    have upgraded the cluster further.
    """
    names = list(versions())
    later = names[names.index(version) :] if version in names else []
    return next((name for name in later if not _over(versions()[name].standard_until, today)), "")


def _over(day: datetime.date | None, today: datetime.date) -> bool:
    return day is not None and day <= today


def _ending(
    known: EksVersion, until: datetime.date, today: datetime.date, support: Support | None
) -> tuple[RuleId, str]:
    """Return the rule and the message for a version whose standard support has ended or ends soon."""
    version, extended, is_over = known.version, known.extended_until, _over(until, today)
    ended = f"standard support for EKS {version} {'ended' if is_over else 'ends'} on {until}"
    if support is None and _over(extended, today):
        return RuleId.RELEASE_BEHIND, (
            f"{ended}, extended support on {extended}: EKS upgrades such clusters by itself, so that the cluster may "
            "have a later version; name that one"
        )
    if support is None:
        return RuleId.RELEASE_SUPPORT_ENDING, (
            f"{ended}; the upgrade policy of an existing cluster is not known here: with STANDARD EKS upgrades it "
            "by itself then, with EXTENDED its control plane costs more per hour from then on, until EKS upgrades it "
            f"on {extended}; `aws eks describe-cluster --name <cluster> --query cluster.upgradePolicy.supportType` "
            "shows it"
        )
    if support == Support.EXTENDED:
        costs = "has cost more per hour since then" if is_over else "then costs more per hour"
        return RuleId.RELEASE_SUPPORT_ENDING, (
            f"{ended}; with support: {support} its control plane {costs}, until extended support ends on {extended} "
            "and EKS upgrades it by itself; upgrade one minor version at a time"
        )
    later = upgraded_to(version, max(until, today))
    to_later = f" to {later}" if later else ""
    if not is_over:
        return RuleId.RELEASE_SUPPORT_ENDING, (
            f"{ended}; with support: {support} EKS then upgrades the control plane by itself{to_later}, at no higher "
            "price and without its add-ons and nodes; before that day "
            f"{f'name {later} here' if later else 'upgrade'}, or set support: {Support.EXTENDED} to stay, which then "
            "costs more per hour"
        )
    return RuleId.RELEASE_BEHIND, (
        f"{ended}; with support: {support} EKS has upgraded a cluster of this version by itself{to_later}, and what "
        f"is named here is behind it: after a refresh, an update asks EKS for {version} again, which it refuses or, "
        "within 7 days of the upgrade, does; look at `aws eks describe-cluster --name <cluster> --query "
        "cluster.version`, run `pulumi refresh`, and name the version that it shows"
        f"{f'; for a new cluster, {later} or later' if later else ''}"
    )
