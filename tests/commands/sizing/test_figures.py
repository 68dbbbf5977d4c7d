"""``workbench size --output json`` and ``csv``: every figure of the model of queues, and the same in both."""

import json
import math
from pathlib import Path

import pytest

from tests.commands.sizing.runs import PROFILES, SAMPLE, rows, size, table
from tests.hostile.runs import run

ALL = (*SAMPLE, *PROFILES)
# WVA spec 8.10: requests a minute, then replicas and cents an hour.
COSTS = [
    ("40", {"A100": (2, 80), "MI300X": (1, 65), "G2": (2, 46)}),
    ("100", {"A100": (4, 160), "MI300X": (2, 130), "G2": (4, 92)}),
    ("200", {"A100": (8, 320), "MI300X": (3, 195), "G2": (7, 161)}),
]


@pytest.mark.parametrize(("rate", "expected"), COSTS)
def test_replicas_and_costs_of_the_vectors(rate: str, expected: dict[str, tuple[int, int]]) -> None:
    found = rows("--rate", rate, *ALL)
    assert {name: (row["replicas"], row["centsPerHour"]) for name, row in found.items()} == expected


def test_every_figure_of_a_vector() -> None:
    """The first row of WVA spec 8.10, and what sections 8.1 to 8.6 make of it."""
    row = rows("--rate", "40", *ALL)["A100"]
    assert (row["alphaMs"], row["betaMs"], row["batch"], row["modelTokens"]) == (20.58, 0.41, 4, 178)
    assert (row["feasible"], row["reason"], row["limit"]) == (True, "", "ttft")
    assert (row["tokenMsAlone"], row["tokenMsFull"]) == (pytest.approx(20.99), pytest.approx(22.22))
    # mu(1) and mu(4) a minute, with a thousandth and without one.
    assert row["lambdaMinPerMinute"] == pytest.approx(0.001 * 60_000 / (178 * 20.99))
    assert row["lambdaMaxPerMinute"] == pytest.approx(0.999 * 4 * 60_000 / (178 * 22.22))
    assert row["lambdaMaxPerMinute"] == pytest.approx(60.6195, abs=5e-5)
    assert (row["room"], row["totalAccelerators"]) == (40, 2)
    assert row["serviceLimitMs"] == 178 * 24
    assert row["waitLimitMs"] == pytest.approx(500 / -math.log(0.05))
    assert row["mostPerMinute"] == row["ttftPerMinute"] == pytest.approx(25.31145, rel=2e-5)
    assert row["itlPerMinute"] == row["lambdaMaxPerMinute"]  # 24 ms are more than it ever takes
    assert row["perReplicaPerMinute"] == 20
    assert row["itlMs"] == pytest.approx(21.49347, abs=5e-6)
    assert row["waitMs"] == pytest.approx(69.767, abs=5e-4)
    assert row["utilisation"] == pytest.approx(0.717897, abs=5e-7)
    assert (row["prefillMs"], row["ttftP95Ms"]) == (None, None)
    assert row["waitP95Ms"] == pytest.approx(-math.log(0.05) * row["waitMs"])
    assert row["serviceMs"] == pytest.approx(178 * row["itlMs"])
    assert row["responseMs"] == pytest.approx(row["serviceMs"] + row["waitMs"])
    # Little's law.
    assert row["inSystem"] == pytest.approx(row["throughputPerMinute"] / 60_000 * row["responseMs"])
    assert row["inService"] == pytest.approx(row["throughputPerMinute"] / 60_000 * row["serviceMs"])
    assert (row["centsPerAcceleratorHour"], row["priceSource"], row["centsPerHour"]) == (40, "--price", 80)
    assert row["usdPerMonth"] == pytest.approx(0.80 * 730)
    assert row["usdPerMillionOutputTokens"] == pytest.approx(0.80 / (40 * 60 * 178) * 1e6)


# WVA spec 8.10: profile, output tokens, promises, requests a minute; then requests a minute that a replica takes, and
# replicas.
OTHERS = [
    ("H100=1x6.958/0.042@512", "512", ("9", "1000"), "480", 620.040, 1),
    ("H100=1x6.958/0.042@512", "512", ("9", "1000"), "1440", 620.040, 3),
    ("H100=1x6.973/0.027@64", "128", ("9", "1000"), "6000", 3327.398, 2),
    ("L40S=1x22.619/0.181@512", "512", ("30", "1000"), "480", 155.387, 4),
    ("A100=4x27.41/0.707@5", "512", ("80", "500"), "30", 6.69766, 5),
]


@pytest.mark.parametrize(("profile", "tokens", "targets", "rate", "most", "replicas"), OTHERS)
def test_other_vectors(
    profile: str, tokens: str, targets: tuple[str, str], rate: str, most: float, replicas: int
) -> None:
    options = ("--output-tokens", tokens, "--slo-itl", targets[0], "--slo-ttft", targets[1], "--rate", rate)
    (row,) = rows("--profile", profile, *options).values()
    assert row["mostPerMinute"] == pytest.approx(most, rel=2e-5)
    assert row["replicas"] == replicas
    assert row["totalAccelerators"] == replicas * row["acceleratorsPerReplica"]


def test_csv_has_what_json_has() -> None:
    everything = ("--rate", "40", *ALL, "--profile", "SLOW=1x50/0.15@4")
    as_json = rows(*everything)
    as_csv = {row["accelerator"]: row for row in table(*everything)}
    assert list(as_csv) == list(as_json)
    assert list(as_csv["A100"]) == list(as_json["A100"])
    for name, row in as_json.items():
        for column, value in row.items():
            text = as_csv[name][column]
            if value is None:
                assert text == ""
            elif isinstance(value, bool):
                assert text == str(value).lower()
            elif isinstance(value, str):
                assert text == value
            else:
                assert float(text) == value


def test_what_keeps_no_promise_comes_last_with_its_reason() -> None:
    found = rows("--rate", "40", *ALL, "--profile", "SLOW=1x50/0.15@4", "--profile", "FLAT=1x20.58/0@4")
    assert list(found)[:3] == ["G2", "MI300X", "A100"]
    slow, flat = found["SLOW"], found["FLAT"]
    assert (slow["feasible"], slow["replicas"], slow["usdPerMonth"], slow["itlMs"]) == (False, None, None, None)
    assert "50.15 ms" in slow["reason"]
    assert "24 ms" in slow["reason"]
    assert "beta is 0" in flat["reason"]


def test_the_cheapest_is_named() -> None:
    done = size("--rate", "200", "--output", "json")
    found = json.loads(done.stdout)
    assert (found["chosen"], [row["chosen"] for row in found["accelerators"]]) == ("G2", [True, False, False])


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_it_ends_with_1_where_nothing_keeps_the_promise(form: str) -> None:
    done = run("size", *SAMPLE, "--rate", "40", "--profile", "SLOW=1x50/0.15@4", "--output", form)
    assert done.code == 1
    assert "50.15 ms" in done.stdout
    assert size("--rate", "40", "--output", form, "--profile", "SLOW=1x50/0.15@4").code == 0


def test_it_is_the_same_every_time() -> None:
    for form in ("table", "json", "csv"):
        done = size("--rate", "40", "--output", form)
        assert size("--rate", "40", "--output", form) == done


def test_the_order_of_options_does_not_matter() -> None:
    turned = (*PROFILES[8:], *PROFILES[:8])
    done = run("size", *SAMPLE, *turned, "--rate", "40", "--output", "csv")
    assert done.stdout == size("--rate", "40", "--output", "csv").stdout


def test_prefill_takes_from_the_promise() -> None:
    late = rows("--rate", "40", *ALL, "--prefill-ms", "100")["A100"]
    tight = rows("--rate", "40", *SAMPLE[:4], "--slo-ttft", "400", *PROFILES, "--prefill-ms", "0")["A100"]
    assert late["mostPerMinute"] == tight["mostPerMinute"]
    assert late["ttftP95Ms"] == pytest.approx(tight["ttftP95Ms"] + 100)
    assert (late["sloTtftMs"], late["prefillMs"]) == (500, 100)


def test_what_was_fitted_is_sized(tmp_path: Path) -> None:
    """Benchmarks of 7.0 and 8.7 ms at 1 and 64 (WVA spec 8.11), and what follows from them (8.10)."""
    (tmp_path / "runs.csv").write_text("concurrency,itl_ms\n1,7.0\n64,8.7\n")
    fitted = run("fit-profile", str(tmp_path / "runs.csv"), "--accelerator", "H100", "--output", "json")
    assert fitted.code == 0, fitted.stderr
    (tmp_path / "fit.json").write_text(fitted.stdout)
    asked = ("--rate", "6000", "--output-tokens", "128", "--slo-itl", "9", "--slo-ttft", "1000")
    (row,) = rows("--profiles", str(tmp_path / "fit.json"), *asked).values()
    assert (row["alphaMs"], row["betaMs"], row["batch"], row["replicas"]) == (6.973, 0.027, 64, 2)
    assert row["mostPerMinute"] == pytest.approx(3327.398, rel=2e-5)
    option = json.loads(fitted.stdout)["option"]
    assert rows("--profile", option, *asked) == {"H100": row}
