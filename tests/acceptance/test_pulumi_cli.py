"""The unmodified program under the Pulumi CLI, as the workbench drives it: the real one, installed or built."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.acceptance.conftest import OWN, REAL, ROOT
from workbench.engine.programs import built
from workbench.engine.pulumi_cli import PulumiCli

needs_cli = pytest.mark.skipif(
    REAL is None and built() is None,
    reason="there is no pulumi on the PATH, and none is built; run make test-engine",
)


def checked(cli: PulumiCli) -> None:
    """Up, up again and destroy of the local stack."""
    before = tracked()
    created = cli.up(yes=True)
    resources = cli.export()["deployment"]["resources"]
    outputs = cli.outputs()
    again = cli.up(yes=True)
    unchanged = cli.export()["deployment"]["resources"]
    previewed = cli.preview()
    destroyed = cli.destroy(yes=True)
    left = cli.export()["deployment"].get("resources") or []

    assert [created, again, previewed, destroyed] == [0] * 4
    assert len(resources) > 100
    # Nothing asks for the plugin of AWS, so it is not loaded; the CLI is told to install only what is asked for.
    assert not [each["urn"] for each in resources if each["type"].startswith(("aws:", "pulumi:providers:aws"))]
    assert {each["urn"] for each in unchanged} == {each["urn"] for each in resources}
    assert set(outputs) == {"cost", "endpoints", "models", "nodes", "prerequisites"}
    assert left == []
    assert tracked() == before
    assert not (ROOT / "Pulumi.acceptance.yaml").exists()


def tracked() -> dict[str, str]:
    """The stack files of the checkout."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in ROOT.glob("Pulumi*.yaml")}


@needs_cli
@pytest.mark.control_plane
def test_the_local_stack_lives_and_ends_under_the_real_cli(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = request.getfixturevalue("cluster")
    for name in OWN:
        monkeypatch.delenv(name, raising=False)
    checked(PulumiCli(ROOT, "local", tmp_path / "state", str(cluster.kubeconfig)))


@pytest.mark.usefixtures("stand_in")
def test_the_local_stack_lives_and_ends_under_the_stand_in(tmp_path: Path) -> None:
    """The same steps, so that they do not rot where there is no CLI. The stand-in reaches no cluster."""
    nowhere = {"apiVersion": "v1", "kind": "Config", "clusters": [], "contexts": [], "users": []}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(nowhere))
    checked(PulumiCli(ROOT, "local", tmp_path / "state", str(tmp_path / "kubeconfig")))


@pytest.mark.parametrize(("stack", "loaded"), [("local", False), ("dev", True)])
def test_only_a_stack_with_a_cloud_loads_its_package(stack: str, loaded: bool, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from workbench.engine.local import LocalEngine\n"
        "from workbench.engine.project import load_project\n"
        "project = load_project(Path(), sys.argv[1], {'kubeconfig': sys.argv[2]} if sys.argv[1] == 'local' else {})\n"
        "LocalEngine(project, Path(sys.argv[3])).record(preview=True)\n"
        "print('pulumi_aws' in sys.modules)\n"
    )
    (tmp_path / "kubeconfig").write_text("{}")
    command = [sys.executable, "-W", "ignore", "-c", script, stack, str(tmp_path / "kubeconfig"), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(loaded)


def test_the_stand_in_is_not_taken_for_the_real_one() -> None:
    assert REAL is None or "STAND_IN_LOG" not in Path(REAL).read_bytes()[:200].decode(errors="replace")
    assert "STAND_IN_LOG" not in os.environ
