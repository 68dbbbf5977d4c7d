"""``workbench size --plot``: latency against load as a picture, with promises and replicas where they are."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commands.sizing.runs import SAMPLE, rows, size
from tests.commands.support import workbench
from tests.hostile.runs import run

SVG = "{http://www.w3.org/2000/svg}"
LATENCIES = ("itl", "ttft")


def drawn(path: Path, *arguments: str, code: int = 0) -> dict[str, ElementTree.Element]:
    """What an SVG has, by the names of its marks."""
    done = run("size", *arguments, "--plot", str(path))
    assert done.code == code, done.stderr
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    return {group.attrib["id"]: group for group in root.iter(f"{SVG}g") if "id" in group.attrib}


def points(group: ElementTree.Element) -> list[tuple[float, float]]:
    """The points of a line."""
    (path,) = group.findall(f"{SVG}path")
    return [(float(x), float(y)) for x, y in re.findall(r"[ML] ([-0-9.]+) ([-0-9.]+)", path.attrib["d"])]


def point(group: ElementTree.Element) -> tuple[float, float]:
    (use,) = group.iter(f"{SVG}use")
    return float(use.attrib["x"]), float(use.attrib["y"])


def texts(path: Path) -> str:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return "\n".join("".join(each.itertext()) for each in root.iter(f"{SVG}text"))


ONE = ("--model", "m", "--rate", "40", *SAMPLE, "--profile", "A100=1x20.58/0.41@4", "--price", "A100=40")


@pytest.mark.parametrize("latency", LATENCIES)
def test_the_marks_are_where_they_belong(tmp_path: Path, latency: str) -> None:
    found = drawn(tmp_path / "plot.svg", *ONE)
    curve = points(found[f"{latency}-predicted"])
    (left, promised), (right, same) = points(found[f"{latency}-promised"])
    (most, _), (at_most, _) = points(found[f"{latency}-most"])
    x, y = point(found[f"{latency}-operating"])
    # Upwards is to lower numbers in SVG.
    heights = [-down for _, down in curve]
    assert [across for across, _ in curve] == sorted(across for across, _ in curve)
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]
    assert promised == same
    assert left < curve[0][0] < x < most == at_most < curve[-1][0] < right
    assert y > promised  # within the promise


def test_the_scale_is_true(tmp_path: Path) -> None:
    """20 requests a minute of at most 25.31 and 60.62, on one line with no request at all."""
    found = drawn(tmp_path / "plot.svg", *ONE)
    row = rows(*ONE)["A100"]
    x, _ = point(found["itl-operating"])
    (most, _), _ = points(found["itl-most"])
    end = points(found["itl-predicted"])[-1][0]
    per_minute = (end - x) / (row["lambdaMaxPerMinute"] - 20)
    assert most == pytest.approx(x + per_minute * (row["mostPerMinute"] - 20), rel=1e-4)
    _, y = point(found["itl-operating"])
    nearest = min(points(found["itl-predicted"]), key=lambda each: abs(each[0] - x))
    assert y == pytest.approx(nearest[1], abs=1)


def test_everything_is_named(tmp_path: Path) -> None:
    drawn(tmp_path / "plot.svg", *ONE)
    named = texts(tmp_path / "plot.svg")
    assert "m on A100" in named
    assert "target: 24 ms" in named
    assert "target: 500 ms" in named
    assert "at most 25.31/min" in named
    assert "2 replicas: 20/min, 21.49 ms" in named
    assert "2 replicas: 20/min, 209 ms" in named
    assert "requests per minute and replica" in named


def test_the_first_of_the_table_is_drawn(tmp_path: Path) -> None:
    assert size("--rate", "40", "--plot", str(tmp_path / "plot.svg")).code == 0
    assert "the model on G2" in texts(tmp_path / "plot.svg")
    assert size("--rate", "40", "--accelerator", "A100", "--plot", str(tmp_path / "plot.svg")).code == 0
    assert "the model on A100" in texts(tmp_path / "plot.svg")


def test_without_a_promise_there_is_no_line_for_it(tmp_path: Path) -> None:
    found = drawn(tmp_path / "plot.svg", *ONE[:6], "--slo-itl", "24", *ONE[10:])
    assert "itl-promised" in found
    assert "ttft-promised" not in found


def test_what_keeps_no_promise_has_no_replicas(tmp_path: Path) -> None:
    slow = ("--model", "m", "--rate", "40", *SAMPLE, "--profile", "SLOW=1x50/0.15@4")
    found = drawn(tmp_path / "plot.svg", *slow, code=1)
    assert {"itl-predicted", "itl-promised", "ttft-predicted", "ttft-promised"} <= set(found)
    assert not {"itl-operating", "itl-most", "ttft-operating"} & set(found)
    # All of the curve is above the promise.
    (_, promised), _ = points(found["itl-promised"])
    assert all(down < promised for _, down in points(found["itl-predicted"]))


def test_how_uncertain_reference_figures_are(tmp_path: Path) -> None:
    """The fastest that it may be is below, at every load; the figures as published are the slowest."""
    asked = ("--model", "llama-7b", "--rate", "480", *SAMPLE[:2], "--slo-itl", "30", "--slo-ttft", "1000")
    found = drawn(tmp_path / "plot.svg", *asked, "--accelerator", "A100")
    own, fastest = (points(found[f"itl-{name}"]) for name in ("predicted", "fastest"))
    assert fastest[-1][0] == pytest.approx(own[-1][0])
    for x, y in fastest:
        nearest = min(own, key=lambda each: abs(each[0] - x))
        assert y > nearest[1]
    assert {"ttft-fastest"} <= set(found)
    assert not {"itl-slowest", "ttft-slowest"} & set(found)
    assert "fastest possible" in texts(tmp_path / "plot.svg")
    # Of H100, figures between both ends were published.
    several = ("--model", "llama-3.1-8b", "--accelerator", "H100", *asked[2:])
    assert {"itl-fastest", "itl-slowest"} <= set(drawn(tmp_path / "plot.svg", *several))


def test_where_nothing_can_be_drawn_that_is_told(tmp_path: Path) -> None:
    done = run("size", *ONE[:10], "--profile", "FLAT=1x20.58/0@4", "--plot", str(tmp_path / "plot.svg"))
    assert done.code == 1
    assert "note: no plot of FLAT: a token takes 20.58 ms at any load" in done.stderr
    assert not (tmp_path / "plot.svg").exists()


def test_the_same_figures_are_the_same_file(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg"):
        drawn(tmp_path / name, *ONE)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    metadata = (tmp_path / "one.svg").read_text().partition("</metadata>")[0]
    assert "date" not in metadata
    assert "atplotlib" not in metadata


def test_pictures_of_dots_are_possible(tmp_path: Path) -> None:
    assert run("size", *ONE, "--plot", str(tmp_path / "plot.png")).code == 0
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_hostile_names(tmp_path: Path) -> None:
    name = "\x1b[31m$1^2$ <script>&\u202e\u6f22"
    found = drawn(tmp_path / "plot.svg", "--model", name, *ONE[2:])
    assert "itl-operating" in found
    assert "$1^2$ <script>&" in texts(tmp_path / "plot.svg")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = workbench("size", *ONE, "--plot", "nosuch/plot.svg", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.endswith("nosuch/plot.svg: No such file or directory\n")
