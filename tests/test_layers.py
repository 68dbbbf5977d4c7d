"""The layers of docs/architecture.md, read from the imports themselves."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PURE = ("api", "catalog", "render", "planning")
PURE_MAY = {
    "api": (),
    "catalog": ("api",),
    "render": ("api", "catalog"),
    "planning": ("api", "catalog", "render"),
}
IMPURE = {"pulumi", "pulumi_kubernetes", "pulumi_aws", "httpx", "socket", "subprocess", "urllib", "requests"}


def sources(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    assert found, folders
    return found


def imports(path: Path) -> set[str]:
    """Absolute dotted names of everything a module imports; relative imports are resolved."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


def within(names: set[str], *prefixes: str) -> set[str]:
    return {name for name in names if any(name == p or name.startswith(p + ".") for p in prefixes)}


@pytest.mark.parametrize("layer", PURE)
def test_pure_layers_import_neither_pulumi_nor_the_network_nor_later_layers(layer: str) -> None:
    allowed = {layer, *PURE_MAY[layer]}
    for path in sources(f"components/{layer}"):
        names = imports(path)
        assert not {n.split(".")[0] for n in names} & IMPURE, path
        layers = {n.split(".")[1] for n in within(names, "components") if "." in n}
        assert layers <= allowed, path


def test_components_know_neither_stacks_nor_the_workbench() -> None:
    for path in sources("components"):
        assert not within(imports(path), "stacks", "workbench", "tests"), path


def test_components_import_each_other_relatively() -> None:
    """Absolute imports of ``components`` would break the published wheel, where it has another name."""
    for path in sources("components"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                assert (node.module or "").split(".")[0] != "components", path


def test_stacks_and_the_program_do_not_know_the_workbench() -> None:
    for path in [*sources("stacks"), ROOT / "__main__.py"]:
        assert not within(imports(path), "workbench", "tests"), path


def test_only_the_adapter_of_the_engine_touches_what_pulumi_keeps_private() -> None:
    users = [
        path.relative_to(ROOT).as_posix()
        for path in sources("components", "stacks", "workbench")
        if within(imports(path), "pulumi.runtime.mocks", "pulumi.runtime.stack", "pulumi.runtime.settings")
    ]
    assert len(users) <= 1, users


@pytest.mark.parametrize("command", ["render", "validate"])
def test_commands_that_need_no_cluster_load_nothing_heavy(command: str, tmp_path: Path) -> None:
    """They run in pull requests and editors, where every tenth of a second counts."""
    (tmp_path / "empty.yaml").write_text("")
    script = (
        "import sys; from workbench.cli import app\n"
        f"sys.argv = ['workbench', {command!r}, {str(tmp_path)!r}]\n"
        "try:\n    app()\nexcept SystemExit:\n    pass\n"
        "heavy = {'pulumi', 'pulumi_kubernetes', 'httpx', 'cryptography'} & set(sys.modules)\n"
        "sys.exit(f'loaded {sorted(heavy)}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
