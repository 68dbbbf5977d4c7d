"""``workbench explain --finding``: every finding, in both formats."""

import json

import pytest

from components.contract.findings.ids import FINAL, RuleId
from components.contract.findings.registry import rules
from tests.commands.support import workbench
from toolkit.printing import Format
from workbench.findings import describe_finding


@pytest.mark.parametrize("id_", sorted(rules()))
def test_a_finding_is_described_as_in_the_registry(id_: str, capsys: pytest.CaptureFixture[str]) -> None:
    info = rules()[RuleId(id_)]
    describe_finding(id_, Format.TEXT)
    text = capsys.readouterr().out
    assert text.startswith(f"{id_}: {info.title} ({info.severity})\n")
    assert " ".join(info.help.split()) in " ".join(text.split())
    assert (f"ignore.inference-platform/{id_}:" in text) is (id_ not in FINAL)
    assert ("cannot be ignored" in text) is (id_ in FINAL)
    describe_finding(id_, Format.JSON)
    described = json.loads(capsys.readouterr().out)
    assert (described["id"], described["mayBeIgnored"]) == (id_, id_ not in FINAL)
    assert (described["title"], described["help"]) == (info.title, info.help)


def test_the_id_may_be_pasted_with_its_brackets() -> None:
    assert workbench("explain", "--finding", "[nodes-too-small]").stdout.startswith("nodes-too-small: ")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--finding", "nodes-too-smal"], "did you mean 'nodes-too-small'"),
        (["--finding", "zzz"], "messages end with the id"),
        (["--finding", "nodes-too-small", "--field", "Playground.spec"], "pass either KIND/NAME"),
    ],
)
def test_a_mistake_is_explained(words: list[str], reason: str) -> None:
    done = workbench("explain", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
