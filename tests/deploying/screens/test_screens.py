"""What ``plan``, ``validate``, ``preview``, ``up``, ``outputs`` and ``fit`` print, as it was approved line by line.

``INFERENCE_PLATFORM_APPROVE=1`` writes the files anew; read every line of the difference.
"""

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from livefleet.folder import LiveFolder
from tests.deploying.screens.projects import (
    LINES,
    ROOT,
    SIZES,
    WIDTHS,
    broken_project,
    names,
    on_terminal,
    piped,
    project,
    without_styles,
)
from toolkit.screen import Screen, columns_of
from workbench.deploying.call import Deployer, StackCall
from workbench.deploying.starting import read_fleet
from workbench.deploying.status import ClusterStatus
from workbench.deploying.tables import StackReport, stack_lines
from workbench.engine.project import load_project
from workbench.engine.state import State, StateRow
from workbench.engine.values import masked
from workbench.planning.wording.figures import whole_usd

APPROVED = Path(__file__).parent / "approved"
FIT = ("fit", "Qwen/Qwen2.5-7B-Instruct")
DIALECTS = [(count, width) for count in SIZES for width in WIDTHS]
PLAN, VALIDATE = ("plan",), ("validate",)
PREVIEW = ("preview", "--offline", "--engine", "local")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    root = tmp_path_factory.mktemp("projects")
    return {count: project(root / str(count), count) for count in SIZES}


@pytest.fixture(scope="module")
def exports(folders: dict[int, Path]) -> dict[int, dict[str, Any]]:
    """The outputs of each stack, as its program exports them."""
    found = {}
    for count, folder in folders.items():
        call = StackCall("local", Deployer.LOCAL, "", folder, {"offline": True})
        found[count] = masked(call.local().record(preview=True).exports)
    return found


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return broken_project(tmp_path_factory.mktemp("broken"))


def is_approved(name: str, text: str) -> None:
    file = APPROVED / f"{name}.txt"
    if os.environ.get("INFERENCE_PLATFORM_APPROVE"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def fits(text: str, width: int, lines: int = LINES) -> None:
    """Check that a text has the lines of one screen, all of its width, and no JSON in a table."""
    found = text.splitlines()
    assert len(found) <= lines
    assert max(map(columns_of, found)) <= width
    assert not any(line.count('"') > 2 for line in found if not line.startswith("  "))


def everywhere(
    name: str,
    *words: str,
    width: int,
    cwd: Path = ROOT,
    code: int = 0,
    lines: int = LINES,
    colors: bool = True,
    plain: bool = True,
) -> None:
    """Check what a command prints into a pipe, and on a terminal, where it is the same with colors.

    Args:
        name: The approved file.
        words: The command.
        width: Columns.
        cwd: Its folder.
        code: Its exit code.
        lines: Lines of the screen.
        colors: Whether a part of the text has a color.
        plain: Whether to check NO_COLOR, too.
    """
    text = piped(*words, cwd=cwd, width=width, code=code)
    fits(text, width, lines)
    is_approved(name, text)
    shown = on_terminal(*words, cwd=cwd, width=width, code=code)
    assert ("\x1b[" in shown) is colors
    assert without_styles(shown) == text
    if plain:
        assert on_terminal(*words, cwd=cwd, width=width, code=code, NO_COLOR="1") == text


@pytest.mark.parametrize(("count", "width"), DIALECTS)
def test_plan(folders: dict[int, Path], count: int, width: int) -> None:
    everywhere(f"plan-{count}-{width}", *PLAN, cwd=folders[count], width=width, plain=count == 1)


@pytest.mark.parametrize(("count", "width"), DIALECTS)
def test_validate(folders: dict[int, Path], count: int, width: int) -> None:
    everywhere(f"validate-{count}-{width}", *VALIDATE, cwd=folders[count], width=width, colors=False)


@pytest.mark.parametrize(("command", "lines"), [("plan", LINES + 6), ("validate", 2 * LINES)])
@pytest.mark.parametrize("width", WIDTHS)
def test_errors(broken: Path, command: str, lines: int, width: int) -> None:
    """``plan`` prints the first errors; ``validate`` one of each rule, in full, which takes more than a screen."""
    everywhere(f"{command}-errors-{width}", command, cwd=broken, width=width, code=1, lines=lines)


@pytest.mark.parametrize(("count", "width"), DIALECTS)
def test_preview(folders: dict[int, Path], count: int, width: int) -> None:
    everywhere(f"preview-{count}-{width}", *PREVIEW, cwd=folders[count], width=width, plain=count == 1)


@pytest.mark.parametrize(("count", "width"), DIALECTS)
def test_up(folders: dict[int, Path], exports: dict[int, dict[str, Any]], count: int, width: int) -> None:
    """The screen after a deployment with a live fleet, in which one model of many is not ready yet."""
    fleet = read_fleet(folders[count], "local")
    assert fleet is not None
    folder = LiveFolder(folders[count] / ".workbench")
    folder.make()
    folder.write_fleet(fleet)
    urls = {
        endpoint.title: f"http://127.0.0.1:{40000 + number}/v1" for number, endpoint in enumerate(fleet.endpoints)
    }
    folder.write_addresses("pods", control="http://127.0.0.1:3999", token="t", endpoints=urls)
    late = names(count)[17] if count > 1 else ""
    models = exports[count]["models"]
    pods = {
        ("Deployment", "models", name): (models[name]["replicas"] - (name == late), models[name]["replicas"])
        for name in names(count)
    }
    status = ClusterStatus(pods=pods, reachable=True)
    report = StackReport("local", exports[count], "kubeconfig", fleet, folder, status)

    def shown(screen: Screen) -> str:
        headline = screen.text("; ".join(["local: created in 1.0 s", *report.facts()]), hanging="  ")
        return "".join(f"{line}\n" for line in (*headline, *stack_lines(report, screen, details=False)))

    text = shown(Screen(width))
    fits(text, width)
    assert text.count("curl") == 1
    is_approved(f"up-{count}-{width}", text)
    colored = shown(Screen(width, colors=True))
    assert "\x1b[" in colored
    assert without_styles(colored) == text


@pytest.mark.parametrize(("count", "width"), DIALECTS)
def test_outputs(
    folders: dict[int, Path], exports: dict[int, dict[str, Any]], count: int, width: int, tmp_path: Path
) -> None:
    """On a cluster of somebody else: with the addresses in the cluster."""
    folder = tmp_path / "own"
    project(folder, 1)
    (folder / "Pulumi.local.yaml").write_text(
        (folders[count] / "Pulumi.local.yaml").read_text().replace(".workbench/kubeconfig", "their.kubeconfig")
    )
    (folder / "their.kubeconfig").write_text("{}")
    with State(folder / ".workbench/stacks", "local") as state:
        state.write(
            [StateRow("urn:pulumi:local::p::kubernetes:core/v1:Namespace::n", "kubernetes:core/v1:Namespace")]
        )
        state.set_fact("outputs", exports[count])
    words = ("outputs", "--engine", "local")
    everywhere(f"outputs-{count}-{width}", *words, cwd=folder, width=width, plain=count == 1)


@pytest.mark.parametrize("width", WIDTHS)
def test_fit(width: int) -> None:
    everywhere(f"fit-{width}", *FIT, width=width)


@pytest.mark.parametrize("count", SIZES)
def test_a_month_costs_the_same_in_preview_up_outputs_and_plan(
    folders: dict[int, Path], exports: dict[int, dict[str, Any]], count: int
) -> None:
    """``plan`` computes the figure from the bill, the others read it from the outputs."""
    from workbench.planning.recording import recorded

    planned = recorded(load_project(folders[count], "local", sealed=True)).planned
    assert planned is not None
    from stacks.costs import environment_bill

    bill = environment_bill(*planned)
    hourly = sum((each.usd_per_hour.now for each in bill.models if each.usd_per_hour), Decimal(0))
    month = whole_usd(hourly * 730)
    screens = [(APPROVED / f"{command}-{count}-80.txt").read_text() for command in ("preview", "up", "outputs")]
    assert all(f"$0 now ({month} a month on AWS)" in " ".join(screen.split()) for screen in screens)
