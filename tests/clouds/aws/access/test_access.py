"""Who may do what in a cluster: entries and policies, their names, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.clouds.aws.access import VIEW, Grant, access_problems, grants
from components.resources.serving.arguments import InvalidArguments
from tests.clouds.aws.access.roles import ABROAD, HOME, made, role
from workbench.engine.program.resources import Alias

CLUSTER = "aws:eks/cluster:Cluster::main"
ENTRY = "aws:eks/accessEntry:AccessEntry"
POLICY = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"

READS_SECRETS = {
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSAdminPolicy",
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSSecretReaderPolicy",
}
"""EKS user guide, "Review access policy permissions": the policies with get on secrets, or on everything."""


def rights(**changes: Any) -> dict[str, set[tuple[str, str]]]:
    """Policy and scope by role."""
    found: dict[str, set[tuple[str, str]]] = {}
    for each in made(**changes).of(POLICY):
        scope = each.inputs["accessScope"]
        assert (scope["type"] == "namespace") == bool(scope.get("namespaces"))
        held = found.setdefault(each.inputs["principalArn"], set())
        held.add((each.inputs["policyArn"].rpartition("/")[2], ",".join(scope.get("namespaces", ["*"]))))
    return found


class TestRights:
    def test_viewers_read_no_secrets(self) -> None:
        ((policy, scope),) = rights(viewer_role_arns=[role("look")])[role("look")]
        assert (policy, scope) == ("AmazonEKSViewPolicy", "*")
        assert policy not in READS_SECRETS

    def test_administrators_may_do_everything(self) -> None:
        assert rights(admin_role_arns=[role("a")]) == {role("a"): {("AmazonEKSClusterAdminPolicy", "*")}}

    def test_namespaces_have_rights_of_their_own(self) -> None:
        namespaces = {
            "models": {"admin_role_arns": [role("lead")], "editor_role_arns": [role("ml")]},
            "team-*": {"editor_role_arns": [role("ml")], "viewer_role_arns": [role("audit")]},
        }
        assert rights(namespace_access=namespaces) == {
            role("lead"): {("AmazonEKSAdminPolicy", "models")},
            role("ml"): {("AmazonEKSEditPolicy", "models,team-*")},
            role("audit"): {("AmazonEKSViewPolicy", "team-*")},
        }

    def test_a_role_has_one_entry_whatever_it_may_do(self) -> None:
        """EKS refuses a second one."""
        ml = role("ml")
        changes: dict[str, Any] = {
            "viewer_role_arns": [ml],
            "namespace_access": {"models": {"editor_role_arns": [ml]}},
        }
        assert [each.inputs["principalArn"] for each in made(**changes).of(ENTRY)] == [ml]
        assert rights(**changes)[ml] == {("AmazonEKSViewPolicy", "*"), ("AmazonEKSEditPolicy", "models")}

    def test_rights_come_after_the_entry(self) -> None:
        (policy,) = (graph := made(admin_role_arns=[role("a")])).of(POLICY)
        (entry,) = graph.of(ENTRY)
        assert entry.key in policy.dependencies

    def test_other_namespaces_do_not_end_in_no_rights(self) -> None:
        """The provider replaces it, and deletes by role and policy: after the new one it would delete the new one."""
        (policy,) = made(namespace_access={"a": {"viewer_role_arns": [role("a")]}}).of(POLICY)
        assert policy.registration.delete_before_replace is True

    @pytest.mark.parametrize("is_admin", [True, False])
    def test_who_creates_it_need_not_stay_its_administrator(self, is_admin: bool) -> None:
        cluster = made(creator_is_admin=is_admin, admin_role_arns=[role("a")])[CLUSTER]
        assert cluster.inputs["accessConfig"]["bootstrapClusterCreatorAdminPermissions"] is is_admin
        # The provider replaces the cluster for it, though EKS reads it once.
        assert "accessConfig.bootstrapClusterCreatorAdminPermissions" in cluster.registration.ignore_changes


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9+=,.@_-]{0,20}", fullmatch=True)
ROLES = st.builds(role, NAMES, st.sampled_from([HOME, ABROAD]))


class TestNames:
    def test_roles_of_one_name_in_two_accounts_are_told_apart(self) -> None:
        graph = made(admin_role_arns=[role("deploy"), role("deploy", ABROAD)])
        assert {each.name: each.inputs["principalArn"] for each in graph.of(ENTRY)} == {
            f"main-access-{HOME}-deploy": role("deploy"),
            f"main-access-{ABROAD}-deploy": role("deploy", ABROAD),
        }
        assert len(graph.of(POLICY)) == 2

    @given(st.lists(ROLES, unique=True, max_size=5), st.lists(ROLES, unique=True, max_size=5))
    def test_they_depend_on_the_role_and_its_policy_alone(self, admins: list[str], editors: list[str]) -> None:
        editors = [each for each in editors if each not in admins]
        everyone = grants(admins, [], {"a": {"editor_role_arns": editors}})
        alone = [*(grants([each], [], {})[0] for each in admins)]
        alone += [grants([], [], {"a": {"editor_role_arns": [each]}})[0] for each in editors]
        assert [(each.entry, each.name) for each in everyone] == [(each.entry, each.name) for each in alone]
        assert len({each.name for each in everyone}) == len(everyone)
        assert len({each.entry for each in everyone}) == len({each.role for each in everyone})

    def test_who_becomes_an_administrator_keeps_the_entry(self) -> None:
        (before,), (after,) = (
            made(viewer_role_arns=[role("a")]).of(ENTRY),
            made(admin_role_arns=[role("a")]).of(ENTRY),
        )
        assert before.name == after.name

    @pytest.mark.parametrize(("argument", "former"), [("admin_role_arns", "admin"), ("viewer_role_arns", "viewer")])
    def test_what_was_there_goes_on_under_its_new_name(self, argument: str, former: str) -> None:
        changes: dict[str, Any] = {argument: [role("team/a")]}
        graph = made(**changes)
        for each in (*graph.of(ENTRY), *graph.of(POLICY)):
            assert [alias.name for alias in each.registration.aliases] == [f"main-{former}-a"]

    def test_one_role_takes_a_former_name_over(self) -> None:
        """Pulumi refuses two claims; before, no two could share it."""
        graph = made(
            admin_role_arns=[role("a"), role("a", ABROAD)], namespace_access={"x": {"viewer_role_arns": [role("b")]}}
        )
        aliases: dict[str, tuple[Alias, ...]] = {each.name: each.registration.aliases for each in graph.of(ENTRY)}
        assert [alias.name for alias in aliases[f"main-access-{HOME}-a"]] == ["main-admin-a"]
        assert aliases[f"main-access-{ABROAD}-a"] == aliases[f"main-access-{HOME}-b"] == ()


def problems(
    admins: tuple[str, ...] = (), viewers: tuple[str, ...] = (), **namespaces: dict[str, list[str]]
) -> list[str]:
    return [": ".join(each) for each in access_problems(admins, viewers, namespaces)]


class TestRefusals:
    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            (problems((role("a"),), (role("a"),)), f"viewer_role_arns: {role('a')} is in admin_role_arns too"),
            (problems((role("a"), role("a"))), f"admin_role_arns: {role('a')} is listed 2 times; list it once"),
            (problems(("a",)), "admin_role_arns: must be ARNs of IAM roles, such as"),
            (problems(("arn:aws:iam::123456789012:user/a",)), "must be ARNs of IAM roles"),
            (problems((role("aws-service-role/eks.amazonaws.com/x"),)), "is a service-linked role, for"),
            (problems((role("p/a"), role("a"))), f"admin_role_arns: {role('a')} and {role('p/a')} would be one role"),
            (
                problems((role("a"),), models={"editor_role_arns": [role("a")]}),
                f"namespace_access[models].editor_role_arns: {role('a')} may do this already, as",
            ),
            (
                problems((), (role("a"),), models={"viewer_role_arns": [role("a")]}),
                f"namespace_access[models].viewer_role_arns: {role('a')} may view every namespace already",
            ),
            (
                problems(models={"viewer_role_arns": [role("a")], "editor_role_arns": [role("a")]}),
                f"namespace_access[models].viewer_role_arns: {role('a')} may do this already",
            ),
            (problems(Models={"viewer_role_arns": [role("a")]}), "namespace_access[Models]: must be the name"),
        ],
    )
    def test_each(self, found: list[str], expected: str) -> None:
        (problem,) = found
        assert expected in problem

    def test_what_can_be_is_not_refused(self) -> None:
        assert problems((role("a"), role("a", ABROAD)), (role("b"),), models={"editor_role_arns": [role("b")]}) == []
        scopes = {"team-*": {"admin_role_arns": [role("b")]}, "x": {"viewer_role_arns": [role("b")]}}
        assert list(access_problems((), (), scopes)) == []

    def test_a_cluster_has_an_administrator(self) -> None:
        with pytest.raises(InvalidArguments, match="creator_is_admin: is false and admin_role_arns is empty"):
            made(creator_is_admin=False)

    def test_the_component_refuses_them(self) -> None:
        with pytest.raises(InvalidArguments, match=r"viewer_role_arns: .* is in admin_role_arns too"):
            made(admin_role_arns=[role("a")], viewer_role_arns=[role("a")])


def test_a_policy_of_a_role_is_one_grant() -> None:
    """EKS associates a policy with an entry once."""
    wanted = grants([], [], {"b": {"viewer_role_arns": [role("a")]}, "a": {"viewer_role_arns": [role("a")]}})
    assert wanted == [Grant(role("a"), VIEW, ("a", "b"))]
