"""``workbench size --literal``: upstream's own rounding (WVA spec 8.9) and choice (8.7)."""

import json
from pathlib import Path

import pytest

from tests.commands.sizing.runs import PROFILES, SAMPLE, rows, size
from tests.commands.sizing.test_variants import LEVELS, stack
from tests.hostile.runs import run

ALL = (*SAMPLE, *PROFILES)


@pytest.mark.parametrize(
    ("rate", "itl", "wait", "busy"),
    [("40", 21.49347, 69.767, 0.717897), ("41.32", 21.50900, 78.636, 0.729748)],
)
def test_the_figures_of_the_controllers_logs(rate: str, itl: float, wait: float, busy: float) -> None:
    """The first two rows of WVA spec 8.10, to the printed digits."""
    row = rows("--rate", rate, *ALL, "--literal")["A100"]
    assert row["mostPerMinute"] == pytest.approx(25.31145, abs=5e-6)
    assert (row["replicas"], row["centsPerHour"]) == (2, 80)
    assert row["itlMs"] == pytest.approx(itl, abs=5e-6)
    assert row["waitMs"] == pytest.approx(wait, abs=5e-4)
    assert row["utilisation"] == pytest.approx(busy, abs=5e-7)


def test_rates_have_two_decimals() -> None:
    """WVA spec 3: less than 0.005 a minute becomes 0, and 8.6: without load a replica is idle."""
    idle = rows("--rate", "0.004", *ALL, "--literal")["A100"]
    assert (idle["replicas"], idle["utilisation"], idle["waitMs"]) == (1, 0, 0)
    assert idle["itlMs"] == pytest.approx(20.99)
    assert rows("--rate", "0.004", *ALL)["A100"]["utilisation"] > 0


def test_it_is_told() -> None:
    assert (
        "Sized as upstream does, with its rounding and its choice of accelerator.\n"
        in size("--rate", "40", "--literal").stdout
    )
    assert "As upstream" not in size("--rate", "40").stdout
    assert json.loads(size("--rate", "40", "--literal", "--output", "json").stdout)["literal"] is True
    assert json.loads(size("--rate", "40", "--output", "json").stdout)["literal"] is False


def test_without_an_accelerator_the_cheapest_is_chosen() -> None:
    done = size("--rate", "40", "--literal", "--details")
    assert [line.split()[:2] for line in done.stdout.splitlines() if "chosen" in line] == [["G2", "chosen"]]


class TestVariants:
    def size(self, folder: Path, *arguments: str) -> tuple[str, str]:
        done = run(
            "size", "--variant", "chat", "--stack", "local", "--cwd", str(folder), *arguments, "--output", "json"
        )
        return json.loads(done.stdout)["chosen"], done.stderr

    def test_it_stays_on_its_accelerator(self, tmp_path: Path) -> None:
        folder = stack(tmp_path, LEVELS)
        assert self.size(folder)[0] == "G2"
        chosen, told = self.size(folder, "--literal")
        assert chosen == "L4"
        assert "takes none" not in told

    def test_where_that_keeps_no_promise_it_takes_none(self, tmp_path: Path) -> None:
        """20.99 ms on the L4, 17.49 ms on G2."""
        folder = stack(tmp_path, LEVELS)
        assert self.size(folder, "--slo-itl", "18")[0] == "G2"
        chosen, told = self.size(folder, "--slo-itl", "18", "--literal")
        assert chosen is None
        assert "note: upstream chooses none of the accelerators that meet the SLO: it stays on L4\n" in told


class TestScaleToZero:
    """Upstream's WVA_SCALE_TO_ZERO: without load the least number of replicas is 0 (WVA spec 8.6)."""

    @pytest.mark.parametrize("literal", [["--literal"], []])
    def test_it_takes_away_the_last_replica(self, literal: list[str]) -> None:
        idle = rows("--rate", "0", *ALL, *literal, "--scale-to-zero")["A100"]
        assert (idle["feasible"], idle["replicas"], idle["totalAccelerators"], idle["centsPerHour"]) == (
            True,
            0,
            0,
            0,
        )

    @pytest.mark.parametrize("literal", [["--literal"], []])
    def test_one_is_kept_otherwise(self, literal: list[str]) -> None:
        for option in ([], ["--keep-one"]):
            assert rows("--rate", "0", *ALL, *literal, *option)["A100"]["replicas"] == 1

    def test_requests_need_replicas(self) -> None:
        assert rows("--rate", "40", *ALL, "--literal", "--scale-to-zero")["A100"]["replicas"] == 2

    def test_settings_say_it(self, tmp_path: Path) -> None:
        asked = ("--variant", "chat", "--stack", "local", "--cwd", str(tmp_path), "--rate", "0", "--literal")
        stack(tmp_path, {**LEVELS, "controller": {"scaleToZero": True}})
        assert {row["replicas"] for row in rows(*asked).values()} == {0}
        assert {row["replicas"] for row in rows(*asked, "--keep-one").values()} == {1}
