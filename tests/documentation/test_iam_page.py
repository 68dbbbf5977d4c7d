"""The page about IAM: its table of roles is what the programs of the shipped stacks create."""

import datetime
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.clouds.aws.models.policies import IDENTITY, LONGEST_INLINE, LONGEST_TRUST, TRUST, policy_problems
from tests.documentation.blocks import ROOT
from tests.recorded import Recorded
from tests.stacks.shipped import Clock, run, settings_of

PAGE = ROOT / "docs/iam.md"
BEGIN, END = "<!-- roles: tests/documentation/test_iam_page.py -->\n", "<!-- end of roles -->\n"
ROLE, INLINE = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
ATTACHED = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
_ADDONS = {"aws-ebs-csi-driver": "", "aws-efs-csi-driver": "", "amazon-cloudwatch-observability": ""}


@pytest.fixture(scope="module")
def graphs() -> list[Recorded]:
    """The resources of both stacks with every part that has a role, and a permissions boundary."""
    found = []
    for stack in ("prod", "staging"):
        shipped = settings_of(stack)
        changes: dict[str, Any] = {
            "models": ["stacks/models/qwen-chat.yaml"],
            "permissionsBoundaryArn": BOUNDARY,
            "network": {**shipped["network"], "flowLogs": {"traffic": "rejected"}},
            "cluster": {**shipped["cluster"], "bastion": True, "addons": _ADDONS},
            "imageCache": {"registries": ["quay.io"], "account": "123456789012"},
            "modelBuckets": ["example-inference-models/prod/"],
        }
        with pytest.MonkeyPatch.context() as patched:
            patched.chdir(ROOT)
            patched.setattr(datetime, "datetime", Clock)
            found.append(run(stack, **changes))
    return found


def roles(graphs: list[Recorded]) -> Iterator[tuple[str, Mapping[str, Any], list[str], list[Mapping[str, Any]]]]:
    """Yield name, trust, names of managed policies and inline statements of each role."""
    for graph in graphs:
        for role in graph.of(ROLE):
            # The mock returns names of roles that are chosen by Pulumi as <logical name>-name.
            names = {role.name, f"{role.name}-name", role.inputs.get("name")}
            managed = sorted(
                entry.inputs["policyArn"].rpartition("/")[2]
                for entry in graph.of(ATTACHED)
                if entry.inputs["role"] in names
            )
            inline = [
                statement
                for entry in graph.of(INLINE)
                if entry.inputs["role"] in names
                for statement in json.loads(entry.inputs["policy"])["Statement"]
            ]
            yield role.name, json.loads(role.inputs["assumeRolePolicy"]), managed, inline


def rows(graphs: list[Recorded]) -> list[str]:
    lines: dict[str, str] = {}
    for name, trust, managed, inline in roles(graphs):
        services = sorted({one["Principal"]["Service"] for one in trust["Statement"]})
        keys = sorted(
            {key for one in trust["Statement"] for each in one.get("Condition", {}).values() for key in each}
        )
        actions = sorted({action for one in inline for action in _listed(one["Action"])})
        may = [f"`{policy}`" for policy in managed] + _by_service(actions)
        conditions = ", ".join(f"`{key}`" for key in keys) or "none"
        lines[name] = f"| `{name}` | {', '.join(services)} | {conditions} | {'; '.join(may)} |"
    return [lines[name] for name in sorted(lines)]


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _by_service(actions: list[str]) -> list[str]:
    """Return actions by service; the number of them where there are many."""
    by_service: dict[str, list[str]] = {}
    for action in actions:
        service, _, name = action.partition(":")
        by_service.setdefault(service, []).append(name)
    return [
        f"{service}: {', '.join(names) if len(names) <= 4 else f'{len(names)} actions'}"
        for service, names in by_service.items()
    ]


def test_the_page_has_the_roles_of_the_stacks(graphs: list[Recorded]) -> None:
    """``INFERENCE_PLATFORM_APPROVE=1`` writes them anew."""
    head = ["| role | assumed by | conditions | may do |", "|---|---|---|---|"]
    table = "\n".join(["", *head, *rows(graphs), "", ""])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    if os.environ.get("INFERENCE_PLATFORM_APPROVE"):
        PAGE.write_text(before + BEGIN + table + END + after, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == before + BEGIN + table + END + after


def test_every_role_has_the_boundary(graphs: list[Recorded]) -> None:
    found = [entry for graph in graphs for entry in graph.of(ROLE)]
    assert len(found) > 15
    assert {entry.inputs.get("permissionsBoundary") for entry in found} == {BOUNDARY}


def test_only_roles_without_documented_conditions_have_none(graphs: list[Recorded]) -> None:
    without = {
        one["Principal"]["Service"]
        for _, trust, _, _ in roles(graphs)
        for one in trust["Statement"]
        if not one.get("Condition")
    }
    assert without == {"ec2.amazonaws.com", "ecr.amazonaws.com"}


def test_iam_would_accept_every_document(graphs: list[Recorded]) -> None:
    for graph in graphs:
        for role in graph.of(ROLE):
            assert policy_problems(TRUST, role.inputs["assumeRolePolicy"], LONGEST_TRUST) == []
        for policy in graph.of(INLINE):
            assert policy_problems(IDENTITY, policy.inputs["policy"], LONGEST_INLINE) == []


def test_no_statement_allows_every_action_of_a_service(graphs: list[Recorded]) -> None:
    actions = {action for _, _, _, inline in roles(graphs) for one in inline for action in _listed(one["Action"])}
    assert not [action for action in actions if "*" in action]


def test_no_role_has_a_managed_policy_with_full_access(graphs: list[Recorded]) -> None:
    assert not [policy for _, _, managed, _ in roles(graphs) for policy in managed if "FullAccess" in policy]
