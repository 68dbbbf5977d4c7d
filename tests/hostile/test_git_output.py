"""Unexpected output of git: the files of a commit are extracted, or the command ends in a message."""

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from tests.hostile.test_fuzz import SEEDS, runs
from workbench.errors import WorkbenchError
from workbench.planning.git import WorkTree, prefix_of

GIT = shutil.which("git") or ""
WRAPPER = """\
#!{python} -SE
import random, subprocess, sys
done = subprocess.run([{git!r}, *sys.argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
chance = random.Random({seed!r} + repr(sys.argv[3:4]))
text = bytearray(done.stdout)
for _ in range(chance.choice((0, 1, 1, 4, 40))):
    at = chance.randrange(len(text) + 1)
    pieces = b"\\0", b"\\n", b"\\xff", b"/", b"..", b"9" * 40, b"x" * 5000, text[at : at + 600], b"160000 "
    piece = chance.choice(pieces)
    match chance.randrange(4):
        case 0:
            text[at:at] = piece
        case 1:
            text[at : at + len(piece)] = piece
        case 2:
            del text[at : at + chance.choice((1, 20, 512, 100_000))]
        case 3:
            text = text[: chance.randrange(len(text) + 1)]
sys.stdout.buffer.write(bytes(text))
sys.stderr.buffer.write(done.stderr)
sys.exit(chance.choice((done.returncode,) * 8 + (0, 1, 128)))
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("repository")
    (made / "inner").mkdir()
    (made / "inner/models.yaml").write_text("a: b\n" * 400)
    (made / "link").symlink_to("inner/models.yaml")
    (made / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
    for command in (
        ("init", "-q", "-b", "main"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "One"),
    ):
        subprocess.run([GIT, "-C", str(made), *command], check=True)
    return made


def read_base(folder: Path, target: Path) -> None:
    """Do with git what ``plan --base`` and ``migrate`` do."""
    prefix_of(folder)
    tree = WorkTree.of(folder)
    tree.extract(tree.base("main").id, target)


@given(seed=SEEDS)
@runs(0.1)
def test_any_output_of_git(seed: int, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    programs, target = tmp_path_factory.mktemp("programs"), tmp_path_factory.mktemp("files")
    (programs / "git").write_text(WRAPPER.format(python=sys.executable, git=GIT, seed=str(Random(seed).random())))
    (programs / "git").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(programs), prepend=":")
        try:
            read_base(repository / "inner", target)
        except WorkbenchError as error:
            assert str(error).startswith("--base: ")  # noqa: PT017  either is right
    outside = [path for path in target.rglob("*") if not path.resolve().is_relative_to(target.resolve())]
    assert outside == []


def test_the_output_of_git_as_it_is(repository: Path, tmp_path: Path) -> None:
    read_base(repository / "inner", tmp_path)
    assert (tmp_path / "inner/models.yaml").is_file()
