"""The list of families, which imports a family only when something of it is needed."""

import subprocess
import sys

import pytest

from components.families import FAMILIES
from tests.families.program import registered
from tests.layers.modules import ROOT
from tests.toy.family import FAMILY

SAMPLES = {
    "llmaz": "stacks/models/qwen-chat.yaml",
    "llmkube": "stacks/models/llmkube-tinyllama-cpu.yaml",
    "kthena": "stacks/models/kthena-vllm.yaml",
}


def test_the_groups_in_the_list_are_those_of_the_kinds() -> None:
    listed = {entry.name: entry.groups for entry in FAMILIES._entries}
    assert listed == {family.name: {member.kind.group for member in family.members} for family in FAMILIES}
    assert FAMILIES.names == [family.name for family in FAMILIES]


def test_only_families_of_a_group_are_returned() -> None:
    assert [family.name for family in FAMILIES.of_groups(["inference.llmaz.io"])] == ["llmaz"]
    assert [family.name for family in FAMILIES.of_groups(["llmd.ai", "llmaz.io"])] == ["llmaz", "llmd"]
    assert FAMILIES.of_groups(["apps"]) == []


@pytest.mark.parametrize("position", [0, 2, 99])
def test_a_family_is_inserted_and_removed(position: int) -> None:
    names = FAMILIES.names
    with registered(FAMILY, position):
        assert FAMILIES.names == [*names[:position], FAMILY.name, *names[position:]]
        assert FAMILIES.of_groups([FAMILY.members[0].kind.group]) == [FAMILY]
    assert FAMILIES.names == names


@pytest.mark.parametrize("own", SAMPLES)
def test_a_manifest_loads_its_own_family_alone_and_no_cloud(own: str) -> None:
    script = (
        "import sys\nfrom workbench.cli import main\n"
        f"sys.argv = ['workbench', 'validate', {SAMPLES[own]!r}, '--stack', 'none']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(*(name for name in sys.modules if name.startswith('components.')))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    modules = done.stdout.splitlines()[-1].split()
    folders = {name.split(".")[2] for name in modules if name.startswith("components.families.")}
    # The types of LeaderWorkerSets are open to all families.
    assert folders & {*FAMILIES.names} - {"leaderworkerset"} == {own}
    # Without a stack there is no cloud, whose provider takes long to import.
    assert "components.clouds.aws.provider" not in modules
