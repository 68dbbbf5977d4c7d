"""What becomes of a cluster when support for its Kubernetes version ends (aws-gpu spec 5 and 18, A10).

The dates are those of EKS's release calendar: 1.33 until 2026-07-29 and 2027-07-29, 1.34 until 2026-12-02 and
2027-12-02, 1.35 until 2027-03-27 and 2028-03-27. What EKS does on them is in its user guide, "View current cluster
upgrade policy".
"""

import datetime
import re
from decimal import Decimal
from pathlib import Path

import pulumi
import pytest

from components.clouds.aws.facts.eks import EksVersion
from components.clouds.aws.versions import check_version, extended_soon, is_extended, upgraded_to
from components.clouds.aws.words import Support
from components.contract.findings.ids import RuleId
from components.families import objects
from components.plan.plan import plan
from stacks.settings import Settings
from stacks.settings_problems import with_settings_problems
from tests.plan.costs.stacks import AWS, bill, settings_of
from tests.plan.costs.test_bills import ONE, same

STANDARD, EXTENDED = Support.STANDARD, Support.EXTENDED


def said(version: str, day: str, support: Support | None) -> list[tuple[str, str, str]]:
    """Severity, rule and words of what is found."""
    found = check_version(version, datetime.date.fromisoformat(day), "Pulumi.dev.yaml", "cluster.version", support)
    for each in (problems := list(found)):
        assert str(each).startswith("Pulumi.dev.yaml: cluster.version: ")
    return [(str(each.severity), str(each.rule), each.reason) for each in problems]


@pytest.mark.parametrize("support", [STANDARD, EXTENDED, None])
@pytest.mark.parametrize(
    ("version", "day"),
    # The notice is 60 days: 2026-12-02 less 60 days is 2026-10-03.
    [("1.35", "2026-11-21"), ("1.36", "2026-11-21"), ("1.34", "2026-10-02"), ("1.35", "2027-01-25")],
)
def test_nothing_is_said_long_before_the_end(version: str, day: str, support: Support | None) -> None:
    assert said(version, day, support) == []


@pytest.mark.parametrize("day", ["2026-10-03", "2026-11-21", "2026-12-01"])
def test_before_the_end_the_day_and_what_follows_depend_on_the_policy(day: str) -> None:
    [(severity, rule, standard)] = said("1.34", day, STANDARD)
    assert (severity, rule) == ("warning", "release-support-ending")
    assert "standard support for EKS 1.34 ends on 2026-12-02" in standard
    assert "upgrades the control plane by itself to 1.35, at no higher price" in standard
    assert "set support: extended to stay" in standard
    [(severity, rule, extended)] = said("1.34", day, EXTENDED)
    assert (severity, rule) == ("warning", "release-support-ending")
    assert "standard support for EKS 1.34 ends on 2026-12-02" in extended
    assert "costs more per hour, until extended support ends on 2027-12-02" in extended
    [(severity, rule, unknown)] = said("1.34", day, None)
    assert (severity, rule) == ("warning", "release-support-ending")
    assert "ends on 2026-12-02; the upgrade policy of an existing cluster is not known here" in unknown
    assert "cluster.upgradePolicy.supportType" in unknown


def test_after_the_end_a_cluster_with_standard_support_has_another_version() -> None:
    [(severity, rule, words)] = said("1.33", "2026-11-21", STANDARD)
    assert (severity, rule) == ("warning", "release-behind")
    assert "standard support for EKS 1.33 ended on 2026-07-29" in words
    assert "has upgraded a cluster of this version by itself to 1.34, and what is named here is behind it" in words
    assert "run `pulumi refresh`, and name the version that it shows" in words
    assert "costs more" not in words


def test_after_the_end_extended_support_costs_more_until_it_ends() -> None:
    [(severity, rule, words)] = said("1.33", "2026-11-21", EXTENDED)
    assert (severity, rule) == ("warning", "release-support-ending")
    assert "standard support for EKS 1.33 ended on 2026-07-29" in words
    assert "has cost more per hour since then, until extended support ends on 2027-07-29" in words


@pytest.mark.parametrize(
    ("version", "day", "expected"),
    [
        ("1.30", "2026-11-21", "out of support since 2026-07-23; supported versions: 1.31, 1.32"),
        ("1.31", "2026-11-26", "out of support since 2026-11-26; supported versions: 1.32"),
        ("1.99", "2026-11-21", "unknown EKS version '1.99'; supported versions: 1.31"),
    ],
)
@pytest.mark.parametrize("support", [STANDARD, EXTENDED])
def test_what_eks_does_not_have_is_an_error(version: str, day: str, expected: str, support: Support) -> None:
    [(severity, _, words)] = said(version, day, support)
    assert severity == "error"
    assert expected in words


def test_a_cluster_that_exists_runs_whatever_is_known_of_its_version() -> None:
    [(severity, rule, words)] = said("1.30", "2026-11-21", None)
    assert (severity, rule) == ("warning", "release-behind")
    assert "extended support on 2026-07-23: EKS upgrades such clusters by itself" in words


@pytest.mark.parametrize(
    ("version", "day", "expected"),
    [
        ("1.33", "2026-07-28", "1.33"),
        ("1.33", "2026-07-29", "1.34"),
        ("1.33", "2026-12-02", "1.35"),
        ("1.32", "2026-11-21", "1.34"),
        ("1.36", "2027-08-02", ""),
        ("1.99", "2026-11-21", ""),
    ],
)
def test_what_eks_upgrades_to(version: str, day: str, expected: str) -> None:
    assert upgraded_to(version, datetime.date.fromisoformat(day)) == expected


def environment(version: str, **cluster: object) -> dict[str, object]:
    """Settings of a stack whose cluster has a version."""
    return {**AWS, "cluster": {**AWS["cluster"], "version": version, **cluster}}


@pytest.mark.parametrize(
    ("version", "support", "day", "hourly"),
    [
        ("1.33", "standard", "2026-07-28", "0.10"),
        ("1.33", "standard", "2026-07-29", "0.10"),
        ("1.33", "standard", "2026-11-21", "0.10"),
        ("1.33", "extended", "2026-07-28", "0.10"),
        ("1.33", "extended", "2026-07-29", "0.60"),
        ("1.35", "extended", "2026-11-21", "0.10"),
    ],
)
def test_the_bill_has_extended_support_only_where_the_cluster_stays(
    version: str, support: str, day: str, hourly: str
) -> None:
    found = bill(ONE, environment(version, support=support), today=datetime.date.fromisoformat(day))
    (plane,) = [each for each in found.items if each.name.startswith("control plane")]
    assert plane.usd_per_hour == same(hourly)
    assert ("extended" in plane.name) is (Decimal(hourly) > Decimal("0.10"))


def test_the_bill_announces_what_extended_support_will_cost() -> None:
    def notes(support: str, day: str) -> list[str]:
        found = bill(ONE, environment("1.34", support=support), today=datetime.date.fromisoformat(day))
        return [note for note in found.notes if "extended support" in note]

    announced = "From 2026-12-02 the control plane is in extended support and costs 0.60 USD an hour in all."
    assert notes("extended", "2026-11-21") == [announced]
    assert notes("extended", "2026-10-02") == notes("extended", "2026-12-02") == notes("standard", "2026-11-21") == []


@pytest.mark.parametrize(
    ("cluster", "rules"),
    [
        ({"version": "1.34"}, ["release-support-ending"]),
        ({"version": "1.34", "support": "extended"}, ["release-support-ending"]),
        ({"version": "1.33"}, ["release-behind"]),
        ({"version": "1.33", "support": "extended"}, ["release-support-ending"]),
        ({"version": "1.35"}, []),
        ({"version": "1.34", "existing": True}, ["release-support-ending"]),
        ({"version": "1.35", "existing": True}, []),
    ],
)
def test_a_plan_says_it(cluster: dict[str, object], rules: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from components.families import parse
    from tests.stacks.shipped import Clock

    monkeypatch.setattr("datetime.datetime", Clock)
    network = {"vpcId": "vpc-0a1b", "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"}}
    changes = {"network": network} if cluster.get("existing") else {}
    stack = settings_of({**AWS, **changes, "cluster": {**AWS["cluster"], **cluster}})
    found = plan(parse(ONE, "models.yaml"), stack.environment()).problems
    assert [str(each.rule) for each in found if each.rule and each.rule.startswith("release-")] == rules


def test_of_an_existing_cluster_whose_version_is_not_named_nothing_is_assumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from components.families import parse
    from tests.stacks.shipped import Clock

    monkeypatch.setattr("datetime.datetime", Clock)
    monkeypatch.setattr("components.clouds.aws.versions.NOTICE", datetime.timedelta(days=3650))
    network = {"vpcId": "vpc-0a1b", "privateSubnets": {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"}}
    stack = settings_of({**AWS, "network": network, "cluster": {"existing": True}})
    found = plan(parse(ONE, "models.yaml"), stack.environment()).problems
    assert [each for each in found if each.rule and each.rule.startswith("release-")] == []


NEW = {
    "version": "1.37",
    "kubernetesVersions": {"1.37": {"standardUntil": "2027-12-02", "extendedUntil": "2028-12-02"}},
}
"""A version that EKS gets after those in the tables, with the days that its calendar might state."""


def new_version(**changes: object) -> Settings:
    return settings_of({**AWS, "cluster": {**AWS["cluster"], **NEW, **changes}})


def found_of(settings: Settings) -> list[tuple[str, str, str]]:
    found = with_settings_problems(
        plan(objects([], "models.yaml"), settings.environment()), settings, Path()
    ).problems
    versioned = [each for each in found if each.path.endswith("cluster.version")]
    return [(str(each.severity), str(each.rule), each.reason) for each in versioned]


def test_an_unknown_version_is_an_error_that_names_the_setting() -> None:
    [(severity, rule, words)] = found_of(new_version(kubernetesVersions={}))
    assert (severity, rule) == ("error", "settings")
    assert "unknown EKS version '1.37'" in words
    assert "cluster.kubernetesVersions describes versions that the tables do not have yet" in words


def test_a_described_version_is_accepted_and_what_is_not_checked_is_noted() -> None:
    [(severity, rule, words)] = found_of(new_version())
    assert (severity, rule) == ("note", "release-unchecked")
    assert words.startswith(
        "whether charts, operators and manifests work with Kubernetes 1.37 is not checked, and EKS "
    )
    assert "chooses the releases of node images and of add-ons" in words
    assert new_version().environment().given == ("Kubernetes 1.37 (cluster.kubernetesVersions)",)


@pytest.mark.parametrize("image", ["al2023", "bottlerocket"])
def test_described_releases_are_those_of_nodes_and_are_not_old(image: str) -> None:
    release = {"al2023": "1.37.0-20261201", "bottlerocket": "1.70.0-12345678"}[image]
    described = {"1.37": {"amiReleases": {image: release}, "addons": {"kube-proxy": "v1.37.0-eksbuild.2"}}}
    settings = settings_of(
        {**AWS, "cluster": {**AWS["cluster"], **NEW, "kubernetesVersions": described}, "gpuNodes": {"image": image}}
    )
    cloud = settings.cloud_environment
    assert cloud is not None
    assert cloud.nodes is not None
    assert cloud.nodes.ami_release == release
    [(_, _, words)] = found_of(settings)
    assert "EKS chooses" not in words
    assert not any(each.rule == RuleId.RELEASE_OLD for each in cloud.check_ages("file"))


def test_the_support_of_a_described_version_ends_as_described() -> None:
    described = EksVersion("1.37", datetime.date(2027, 12, 2), datetime.date(2028, 12, 2))
    day = datetime.date(2027, 11, 1)
    found = check_version("1.37", day, "Pulumi.dev.yaml", "cluster.version", EXTENDED, described)
    assert [str(each.rule) for each in found] == ["release-unchecked", "release-support-ending"]
    assert is_extended("1.37", datetime.date(2027, 12, 2), EXTENDED, described)
    assert not is_extended("1.37", day, EXTENDED, described)
    assert extended_soon("1.37", day, EXTENDED, described) == datetime.date(2027, 12, 2)
    over = check_version("1.37", datetime.date(2028, 12, 2), "file", "cluster.version", STANDARD, described)
    assert [str(each.severity) for each in over] == ["note", "error"]


def test_an_existing_cluster_of_an_unknown_version_is_noted() -> None:
    [(severity, rule, words)] = said("1.37", "2026-11-21", None)
    assert (severity, rule) == ("note", "release-unchecked")
    assert "because the tables do not have it" in words
    assert said("1.35", "2026-11-21", None) == []


@pytest.mark.parametrize(
    ("described", "path", "words"),
    [
        ({"1.35": {}}, "1.35", "is in the tables, whose facts count"),
        ({"1.37": {"standardUntil": "2027-13-02"}}, "1.37.standardUntil", "must be a day such as 2027-12-02"),
        ({"1.37": {"standardUntil": "soon"}}, "1.37.standardUntil", "must be a day such as 2027-12-02"),
        (
            {"1.37": {"standardUntil": "2028-12-02", "extendedUntil": "2027-12-02"}},
            "1.37.extendedUntil",
            "is before standardUntil (2028-12-02)",
        ),
    ],
)
def test_wrong_descriptions_are_errors(described: dict[str, object], path: str, words: str) -> None:
    with pytest.raises(pulumi.RunError, match=re.escape(words)) as wrong:
        new_version(kubernetesVersions=described)
    assert f"cluster.kubernetesVersions.{path}: " in str(wrong.value)
