"""``workbench dev fit-profile`` as its users run it."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.families.llmd.types import ModelProfile
from tests.commands.support import workbench
from tests.fitting.reading import DATA, read
from workbench.fitting.line import fit

SPEC = "concurrency,itl_ms\n1,7.0\n64,8.7\n"
STRAIGHT = "concurrency,itl_ms\n1,7.02\n8,7.2\n16,7.41\n32,7.85\n64,8.72\n"
SVG = "{http://www.w3.org/2000/svg}"


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    return path


def fitted(*arguments: str | Path) -> dict[str, Any]:
    done = workbench("fit-profile", *arguments, "--output", "json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_example_of_the_spec_is_an_entry_for_a_manifest(tmp_path: Path) -> None:
    done = workbench("fit-profile", written(tmp_path, SPEC), "--accelerator", "H100")
    assert done.returncode == 0
    entry = yaml.safe_load(
        done.stdout[done.stdout.index("modelProfile:") : done.stdout.index("Size with this profile:")]
    )
    assert entry["modelProfile"] == {
        "accelerators": [{"acc": "H100", "accCount": 1, "alpha": "6.973", "beta": "0.027", "maxBatchSize": 64}]
    }
    assert ModelProfile.model_validate(entry["modelProfile"])
    assert done.stdout.endswith("Size with this profile:\nworkbench size --profile H100=1x6.973/0.027@64\n")
    assert done.stderr.startswith("warning: only two measurements: the line goes through both")


def test_the_table_has_figures_bounds_and_measurements(tmp_path: Path) -> None:
    path = written(tmp_path, STRAIGHT)
    done = workbench("fit-profile", path, "--details")
    assert (done.returncode, done.stderr) == (0, "")
    found = fitted(path)
    for name in ("alpha", "beta"):
        value, low, high = (f"{found[name][key]:.6g}" for key in ("value", "low", "high"))
        assert re.search(rf"^{name} +{re.escape(value)} +{re.escape(low)} to {re.escape(high)}$", done.stdout, re.M)
    assert all(f"{path}:{line}" in done.stdout for line in range(2, 7))
    assert done.stdout.count("●") == 5
    assert "modelProfile" not in done.stdout


def test_json_has_everything(tmp_path: Path) -> None:
    path = written(tmp_path, STRAIGHT)
    found = fitted(path, "--accelerator", "MI300X", "--count", "2", "--batch", "72")
    alpha, beta = found["alpha"]["value"], found["beta"]["value"]
    assert found["profiles"] == [
        {"accelerator": "MI300X", "count": 2, "alpha": round(alpha, 3), "beta": round(beta, 4), "batch": 72}
    ]
    assert found["option"] == f"MI300X=2x{round(alpha, 3)}/{round(beta, 4)}@72"
    assert found["alpha"]["low"] < alpha < found["alpha"]["high"]
    assert (found["confidence"], found["weighted"], found["warnings"]) == (0.95, False, [])
    assert len(found["measurements"]) == 5
    assert found["measurements"][4] == {
        "concurrency": 64.0,
        "itlMs": 8.72,
        "lineMs": pytest.approx(alpha + 64 * beta),
        "errorMs": None,
        "counted": "given",
        "place": f"{path}:6",
    }


def test_the_ends_are_profiles_around_the_bounds(tmp_path: Path) -> None:
    path = written(tmp_path, STRAIGHT)
    ends = fitted(path, "--accelerator", "H100")["ends"]
    line = fit(read(path).measurements)
    for n in range(1, 65):
        fast, slow = (ends[name]["alpha"] + ends[name]["beta"] * n for name in ("fast", "slow"))
        bounds = line.value_at(n)
        assert bounds.low is not None
        assert bounds.high is not None
        # Figures are rounded, beta to 0.0001.
        assert fast <= bounds.low + 0.004
        assert slow >= bounds.high - 0.004
        assert line.at(n) - 2 * (line.at(n) - bounds.low) < fast < line.at(n) < slow
    shown = workbench("fit-profile", path, "--accelerator", "H100").stdout.splitlines()[-2:]
    options = [f"--profile H100=1x{ends[name]['alpha']}/{ends[name]['beta']}@64" for name in ("fast", "slow")]
    assert shown == [f"workbench size {options[0]} \\", f"  {options[1]}"]


def test_without_bounds_there_are_no_ends(tmp_path: Path) -> None:
    assert fitted(written(tmp_path, SPEC))["ends"] == {"fast": None, "slow": None}
    hardly = "concurrency,itl_ms\n16,1.2\n32,1.8\n48,2.9\n64,3.3\n"
    assert fitted(written(tmp_path, hardly))["ends"] == {"fast": None, "slow": None}


def test_sizing_takes_what_is_written(tmp_path: Path) -> None:
    """Spec 8.10: these figures take 3327.398 requests a minute with promises of 9 and 1000 ms, and 128 tokens."""
    done = workbench("fit-profile", written(tmp_path, SPEC), "--accelerator", "H100", "--output", "json")
    (tmp_path / "fit.json").write_text(done.stdout)
    asked = (
        "--rate",
        "6000",
        "--input-tokens",
        "128",
        "--output-tokens",
        "128",
        "--slo-itl",
        "9",
        "--slo-ttft",
        "1000",
    )
    sized = workbench("size", *asked, "--profiles", tmp_path / "fit.json", "--output", "json")
    assert sized.returncode == 0, sized.stderr
    assert "3327.39" in sized.stdout


def test_without_an_accelerator_there_is_no_profile(tmp_path: Path) -> None:
    found = fitted(written(tmp_path, STRAIGHT))
    assert (found["profiles"], found["option"]) == ([], None)


def test_two_measurements_have_no_bounds_in_json(tmp_path: Path) -> None:
    found = fitted(written(tmp_path, SPEC))
    assert found["beta"] == {"value": pytest.approx(1.7 / 63), "low": None, "high": None}
    assert len(found["warnings"]) == 1


def test_runs_of_vllm_and_reports_of_guidellm_are_read(tmp_path: Path) -> None:
    runs = fitted(*(DATA / f"vllm-concurrency{n}.json" for n in (1, 16, 64)))
    report = fitted(DATA / "guidellm-0.7.3.json")
    assert runs["beta"]["value"] == pytest.approx(0.027, abs=1e-4)
    assert report["beta"]["value"] == pytest.approx(0.027, abs=1e-4)


def test_stdin_is_read() -> None:
    done = workbench("fit-profile", "-", "--output", "json", text=SPEC)
    assert done.returncode == 0
    assert json.loads(done.stdout)["measurements"][0]["place"] == "<stdin>:2"


def test_figures_are_written_with_three_digits_at_least(tmp_path: Path) -> None:
    text = "concurrency,itl_ms\n1,20\n64,20.02\n128,20.0403\n"
    (profile,) = fitted(written(tmp_path, text), "--accelerator", "H100")["profiles"]
    assert profile["beta"] == pytest.approx(0.000317, abs=1e-6)
    done = workbench("fit-profile", written(tmp_path, text), "--accelerator", "H100")
    assert 'beta: "0.000317"' in done.stdout


class TestWhatIsLeftOut:
    TEXT = "concurrency,itl_ms\n1,7.03\n8,7.24\n16,7.46\n32,7.96\n64,8.92\n128,8.93\n256,8.95\n"

    def test_a_bend_is_said_with_the_range(self, tmp_path: Path) -> None:
        done = workbench("fit-profile", written(tmp_path, self.TEXT))
        assert done.returncode == 0
        assert "try --up-to 64" in done.stderr

    @pytest.mark.parametrize("option", ["--up-to", "--batch"])
    def test_it_is_said_and_the_rest_is_a_line(self, option: str, tmp_path: Path) -> None:
        done = workbench("fit-profile", written(tmp_path, self.TEXT), option, "64", "--accelerator", "H100")
        assert done.returncode == 0
        assert done.stderr == "note: 2 of 7 measurements left out: concurrency too high\n"

    def test_where_nothing_is_left(self, tmp_path: Path) -> None:
        done = workbench("fit-profile", written(tmp_path, self.TEXT), "--up-to", "4")
        assert (done.returncode, done.stdout) == (1, "")
        assert "all at 1 (6 above --up-to or --batch left out)" in done.stderr


class TestPlot:
    @pytest.mark.parametrize(("text", "parts"), [(STRAIGHT, {"line", "measured", "confidence"}), (SPEC, {"line"})])
    def test_a_picture_has_the_line_and_the_measurements(self, text: str, parts: set[str], tmp_path: Path) -> None:
        path = tmp_path / "fit.svg"
        assert workbench("fit-profile", written(tmp_path, text), "--plot", path).returncode == 0
        tree = ET.fromstring(path.read_text())
        assert tree.tag == f"{SVG}svg"
        found = {each.get("id") for each in tree.iter()}
        assert parts <= found
        (points,) = [each for each in tree.iter() if each.get("id") == "measured"]
        assert len(list(points.iter(f"{SVG}use"))) == text.count("\n") - 1

    def test_it_is_the_same_every_time(self, tmp_path: Path) -> None:
        paths = [tmp_path / f"{number}.svg" for number in range(2)]
        for path in paths:
            workbench("fit-profile", written(tmp_path, STRAIGHT), "--plot", path)
        first, second = (path.read_bytes() for path in paths)
        assert first == second

    def test_other_pictures_are_refused_before_anything_is_read(self) -> None:
        done = workbench("fit-profile", "missing.csv", "--plot", "fit.pdf")
        assert done.returncode == 2
        assert "--plot: must be a file that ends in .svg or .png" in done.stderr

    def test_terminals_without_such_letters_get_others(self, tmp_path: Path) -> None:
        done = workbench("fit-profile", written(tmp_path, STRAIGHT), encoding="ascii")
        assert done.returncode == 0
        assert done.stdout.isascii()
        assert "|.o" in done.stdout or "| o" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--accelerator", "H"], "--accelerator: must be 2 to 253 letters"),
        (["--accelerator", "H100\nx: y"], "--accelerator: must be 2 to 253 letters"),
        (["--accelerator", "${HOME}"], "--accelerator: must be 2 to 253 letters"),
        (["--accelerator", "NVIDIA H100"], "--accelerator: must be 2 to 253 letters"),
        (["--count", "0"], "--count"),
        (["--batch", "1"], "--batch"),
        (["--up-to", "0"], "--up-to"),
        (["--up-to", "x"], "--up-to"),
        (["--latency", "ttft"], "--latency"),
        (["--output", "yaml"], "--output"),
    ],
)
def test_what_is_no_value_of_an_option_is_refused(arguments: list[str], expected: str, tmp_path: Path) -> None:
    done = workbench("fit-profile", written(tmp_path, SPEC), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("concurrency,itl_ms\n1,7\n", "the concurrencies are too close together, all at 1"),
        ("concurrency,itl_ms\n1,8\n64,7\n", "beta is -0.01587 ms, and must be above 0"),
        ("concurrency,itl_ms\n1,x\n", "runs.csv:2: itl_ms: must be a number from 1e-06"),
        ("concurrency,itl_ms\n1,\x1b]0;x\x07\n", "found '\\x1b]0;x\\x07'"),
    ],
)
def test_what_cannot_be_fitted_is_a_message(text: str, expected: str, tmp_path: Path) -> None:
    done = workbench("fit-profile", written(tmp_path, text), "--accelerator", "H100")
    assert (done.returncode, done.stdout) == (1, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_is_needed() -> None:
    assert workbench("fit-profile").returncode == 2
