"""The wheel: it holds every module and data file, and short programs run from it outside the checkout."""

import importlib.metadata
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import grpc  # type: ignore[import-untyped]
import pytest
import yaml
from pulumi.runtime.proto.provider_pb2 import GetSchemaRequest
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

from tests.documentation.blocks import PAGES
from tests.installed.building import FOLDERS, PACKAGE, ROOT, environment
from tests.resources.serving.manifests import SMALL

GOLDEN = ROOT / "components" / "schema.json"
FLEET = """\
\"\"\"Deploys the models in models.yaml.\"\"\"

import pulumi
import pulumi_kubernetes
from inference_platform import ModelFleet

cluster = pulumi_kubernetes.Provider("cluster", kubeconfig="kubeconfig")
options = pulumi.ResourceOptions(providers=[cluster])
fleet = ModelFleet("models", {"files": ["models.yaml"], "namespace": "models"}, options)
pulumi.export("endpoints", fleet.endpoints)
"""
NODES = """\
\"\"\"Makes node groups for two flavors in a cluster that exists.\"\"\"

import pulumi
from inference_platform import FlavorArgs, GpuNodeGroups

small: FlavorArgs = {"name": "a10g", "params": {"INSTANCE-TYPE": "g5.2xlarge"}}
large: FlavorArgs = {"name": "h100", "params": {"INSTANCE-TYPE": "p5.48xlarge"}}
place = {"region": "us-east-1", "version": "1.35", "vpc_id": "vpc-0a1b", "subnets": {"us-east-1a": "subnet-0a1b"}}
cluster = {"cluster_name": "prod", "cluster_plain_name": "prod", "cluster_security_group_id": "sg-0a1b"}
role = {"node_role_arn": "arn:aws:iam::123456789012:role/node"}
nodes = GpuNodeGroups("nodes", {"flavors": [small, large], **place, **cluster, **role})
pulumi.export("names", nodes.names)
"""


def test_it_holds_what_the_folders_hold(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(f"{PACKAGE}/")}
    tree = {
        f"{place}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, place in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not {"__pycache__", "inference_platform_workbench.egg-info"} & set(path.parts)
    }
    # How the plugin and the command line are started from a checkout, and the models of its stacks.
    samples = {name for name in tree if re.match(rf"{PACKAGE}/stacks/(models|spot|variants)/", name)}
    started = ("requirements.txt", "requirements.lock", "workbench/pyproject.toml")
    assert tree - names == samples | {f"{PACKAGE}/{name}" for name in started}
    assert names - tree == set()


def python(installed: Path, cwd: Path, *words: str) -> str:
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=cwd, env=environment(installed), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def project(folder: Path, program: str) -> Path:
    """A Pulumi project of somebody's."""
    (folder / "__main__.py").write_text(program)
    (folder / "Pulumi.yaml").write_text("name: elsewhere\nruntime: python\n")
    (folder / "Pulumi.dev.yaml").write_text("config: {}\n")
    (folder / "models.yaml").write_text(yaml.safe_dump_all(SMALL))
    (folder / "kubeconfig").write_text("")
    return folder


def test_it_is_the_wheel_that_is_imported(installed: Path, tmp_path: Path) -> None:
    """Also in the checkout, from which the workbench runs; and Pulumi is loaded only where it is needed."""
    script = f"import {PACKAGE}, sys; print({PACKAGE}.__file__); assert 'pulumi' not in sys.modules"
    for folder in (tmp_path, ROOT):
        assert python(installed, folder, "-c", script).strip() == str(installed / PACKAGE / "__init__.py")


def test_the_plugin_lists_its_components_from_it(installed: Path, tmp_path: Path) -> None:
    script = "from inference_platform.resources.plugin import Host\nprint(Host('9.9.9').schema)\n"
    listed = json.loads(python(installed, tmp_path, "-W", "ignore", "-c", script))
    assert listed == {**json.loads(GOLDEN.read_text()), "version": "9.9.9"}


MOCKS = """\
import runpy, sys
import pulumi
from pulumi.runtime import mocks, test

class Echo(mocks.Mocks):
    def call(self, args): raise AssertionError(args.token)
    def new_resource(self, args):
        print(args.typ, args.name)
        made = {"nodeGroupName": args.name, "latestVersion": 1}
        made["resources"] = [{"autoscalingGroups": [{"name": "asg"}]}]
        return f"{args.name}-id", {**args.inputs, **made}

mocks.set_mocks(Echo())

@test
def program():
    runpy.run_path(sys.argv[1])

program()
print(sys.modules["inference_platform"].__file__)
"""


def test_the_plugin_serves_its_schema(installed: Path) -> None:
    """The host runs the package's folder as a program, which prints its port."""
    command = [sys.executable, "-W", "ignore", str(installed / PACKAGE), "127.0.0.1:9"]
    with subprocess.Popen(command, env=environment(installed), stdout=subprocess.PIPE, text=True) as plugin:
        try:
            assert plugin.stdout
            address = f"127.0.0.1:{plugin.stdout.readline().strip()}"
            with grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", 2**26)]) as channel:
                provider = ResourceProviderStub(channel)
                served = json.loads(provider.GetSchema(GetSchemaRequest()).schema)
        finally:
            plugin.kill()
    assert served["version"] == importlib.metadata.version("inference-platform")
    assert served["resources"] == json.loads(GOLDEN.read_text())["resources"]


def documented() -> list[str]:
    """Programs that the documentation shows."""
    found = []
    for file in PAGES:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        found += [block for block in blocks if f"from {PACKAGE}" in block]
    return found


@pytest.mark.parametrize("program", documented())
def test_the_programs_of_the_documentation_run(program: str, installed: Path, tmp_path: Path) -> None:
    folder = project(tmp_path, program)
    (folder / "models").mkdir()
    (folder / "models.yaml").rename(folder / "models" / "models.yaml")
    (folder / "run.py").write_text(MOCKS)
    printed = python(installed, folder, "-W", "ignore", "run.py", "__main__.py").splitlines()
    assert [line for line in printed if line.startswith("inference-platform:index:")]


def test_the_documentation_shows_programs() -> None:
    assert len(documented()) >= 5


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (FLEET, {"inference-platform:index:ModelFleet models", "kubernetes:apps/v1:Deployment models-team/gguf"}),
        (NODES, {"inference-platform:index:GpuNodeGroups nodes", "aws:eks/nodeGroup:NodeGroup nodes-p5-48xlarge"}),
    ],
    ids=["fleet", "nodes"],
)
class TestPrograms:
    """Short programs of somebody's, outside the checkout."""

    def test_is_short(self, program: str, expected: set[str]) -> None:
        lines = [line for line in program.splitlines() if line.strip() and not line.startswith('"""')]
        assert len(lines) <= 10

    def test_runs_under_the_mocks_of_the_sdk(
        self, program: str, expected: set[str], installed: Path, tmp_path: Path
    ) -> None:
        folder = project(tmp_path, program)
        (folder / "run.py").write_text(MOCKS)
        printed = python(installed, folder, "-W", "ignore", "run.py", "__main__.py").splitlines()
        assert expected <= set(printed)
        assert printed[-1].startswith(str(installed))

    def test_previews_with_the_local_engine(
        self, program: str, expected: set[str], installed: Path, tmp_path: Path
    ) -> None:
        folder = project(tmp_path, program)
        words = ["-m", "workbench", "preview", "--engine", "local", "--offline", "--details", "--stack", "dev"]
        printed = python(installed, ROOT, *words, "--cwd", str(folder))
        for name in expected:
            assert name.rpartition(" ")[2] in printed, printed
