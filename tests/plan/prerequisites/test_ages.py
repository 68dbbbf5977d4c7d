"""Pins carry dates, and those older than six months are reported."""

import dataclasses
import datetime
from pathlib import Path

import pytest

from components.clouds.aws.environment import AwsEnvironment
from components.clouds.aws.facts.releases import addons_date, image_date
from components.clouds.aws.nodes.plan import NodeEnvironment
from components.contract.clock import months_before
from components.contract.findings.ids import RuleId
from components.contract.problems import Problem, Severity
from components.plan.prerequisites.charts import charts, known
from components.plan.prerequisites.needed import ClusterFacts, Prerequisite, check_ages

KEDA = dataclasses.replace(charts()["keda"], released=datetime.date(2026, 3, 31))


def found(today: datetime.date | None, *names: str) -> list[Problem]:
    needed = [Prerequisite(KEDA if name == "keda" else charts()[name], ("a model",)) for name in names]
    return list(check_ages(needed, ClusterFacts(today=today, file="Pulumi.dev.yaml")))


@pytest.mark.parametrize(
    ("day", "before"),
    [
        ("2026-11-21", "2026-05-21"),
        ("2026-03-31", "2025-09-30"),
        ("2026-08-31", "2026-02-28"),
        ("2028-08-30", "2028-02-29"),
        ("2026-01-15", "2025-07-15"),
    ],
)
def test_six_months_before(day: str, before: str) -> None:
    assert months_before(datetime.date.fromisoformat(day), 6) == datetime.date.fromisoformat(before)


def test_every_pin_has_a_date() -> None:
    assert all(isinstance(pin.released, datetime.date) for pin in known().values())
    assert {isinstance(day, datetime.date) for day in (image_date("al2023"), image_date("bottlerocket"))} == {True}
    assert isinstance(addons_date(), datetime.date)


@pytest.mark.parametrize(
    ("name", "released"),
    [
        # The times of the versions in the Go module proxy, which are those of their tags.
        ("karpenter", datetime.date(2026, 10, 23)),
        ("keda", datetime.date(2026, 9, 23)),
        # kubernetes-sigs/lws, tag v0.10.0; cert-manager/cert-manager, tag v1.18.2
        ("leader-worker-set", datetime.date(2026, 8, 11)),
        ("cert-manager", datetime.date(2025, 7, 2)),
    ],
)
def test_dates_are_those_of_the_tags(name: str, released: datetime.date) -> None:
    assert charts()[name].released == released


@pytest.mark.parametrize(
    ("today", "is_old"),
    [("2026-09-30", False), ("2026-10-01", True), ("2027-06-01", True)],
)
def test_a_chart_is_old_after_six_months(today: str, is_old: bool) -> None:
    problems = found(datetime.date.fromisoformat(today), "keda")
    assert [(each.rule, each.severity) for each in problems] == (
        [(RuleId.RELEASE_OLD, Severity.WARNING)] if is_old else []
    )


def test_all_old_charts_are_one_finding_with_their_dates() -> None:
    (problem,) = found(datetime.date(2027, 1, 1), "keda", "karpenter", "cert-manager")
    assert "cert-manager v1.18.2 (2025-07-02), keda 2.21.0 (2026-03-31)" in problem.reason
    assert "karpenter" not in problem.reason


def test_without_a_day_nothing_is_old() -> None:
    assert found(None, "keda") == []


def on_aws(day: str, *, existing: bool = False, release: str = "") -> list[Problem]:
    now = datetime.datetime.fromisoformat(f"{day}T12:00:00+00:00")
    nodes = NodeEnvironment("us-east-1", ("us-east-1a",), "1.35", now, ami_release=release)
    return list(AwsEnvironment("us-east-1", nodes, existing=existing).check_ages("Pulumi.dev.yaml"))


@pytest.mark.parametrize(
    ("day", "existing", "release", "old"),
    [
        # Pinned: AL2023 of 2026-07-14 and add-ons of 2026-07 (awslabs/amazon-eks-ami, CHANGELOG.md).
        ("2026-12-31", False, "", []),
        ("2027-01-02", False, "", ["EKS add-ons (2026-07-01)"]),
        ("2027-01-15", False, "", ["1.35.6-20260714 (2026-07-14)", "EKS add-ons"]),
        ("2027-01-15", True, "", ["1.35.6-20260714 (2026-07-14)"]),
        ("2027-01-15", True, "1.35.8-20261201", []),
    ],
)
def test_images_and_add_ons_grow_old_as_well(day: str, existing: bool, release: str, old: list[str]) -> None:
    reasons = [problem.reason for problem in on_aws(day, existing=existing, release=release)]
    assert len(reasons) == bool(old)
    for text in old:
        assert text in reasons[0]


def test_only_one_module_asks_the_clock_for_a_plan() -> None:
    asking = [
        str(path)
        for folder in ("components", "stacks")
        for path in Path(folder).rglob("*.py")
        if "datetime.now(" in path.read_text(encoding="utf-8")
    ]
    # A report of an unforeseen failure is named after its time.
    assert sorted(asking) == ["components/contract/clock.py", "components/contract/texts/crash_report.py"]
