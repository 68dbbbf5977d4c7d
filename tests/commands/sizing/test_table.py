"""``workbench size`` for people: the tables, what is told beside them, and latency against load on a terminal."""

from pathlib import Path

import pytest

from tests.commands.sizing.runs import PROFILES, SAMPLE, rows, size
from tests.commands.support import workbench
from tests.hostile.runs import run

BLOCKS = "▁▂▃▄▅▆▇█"
KNEE = ("--model", "m", "--rate", "40", *SAMPLE, "--profile", "A100=1x20.58/0.41@4", "--price", "A100=40")


def lines(*arguments: str) -> list[str]:
    done = run("size", *arguments)
    assert done.code == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


def cells(found: list[str], name: str) -> list[str]:
    """The row of the first table that begins with an accelerator."""
    return rows_of(found, name)[0]


def rows_of(found: list[str], name: str) -> list[list[str]]:
    """The row of each table that begins with an accelerator."""
    return [line.split() for line in found if line.startswith(f"{name} ")]


def test_a_row_for_each_accelerator() -> None:
    found = size("--rate", "40", "--details").stdout.splitlines()
    assert found[:2] == [
        "the model: 2 replicas on G2, $336 a month",
        "40 requests/min, 178 tokens out; target: ITL 24 ms, TTFT 500 ms (95 %)",
    ]
    assert found[2].split() == ["ACCELERATOR", "REPLICAS", "ITL", "MS", "QUEUEING", "MS", "$/MONTH"]
    # WVA spec 8.10; 46, 65 and 80 cents an hour for 730 hours, 427,200 tokens an hour; requests at once are
    # throughput * service time, 19.99 / 60 s * 178 * 21.49347 ms = 1.28.
    assert rows_of(found, "A100") == [
        ["A100", "2", "21.49", "209.0", "584"],
        ["A100", "20", "25.31", "ttft", "71.8%"],
        ["A100", "yes", "1.3", "of", "4", "1.87"],
    ]
    assert [row[1] for row in rows_of(found, "MI300X")] == ["1", "40", "yes"]
    assert [row[-1] for row in rows_of(found, "MI300X")] == ["474", "61.3%", "1.52"]
    assert [row[1] for row in rows_of(found, "G2")] == ["2", "20", "cheapest"]
    assert [row[-1] for row in rows_of(found, "G2")] == ["336", "65.0%", "1.08"]


def test_without_details_everything_fits_a_screen() -> None:
    done = workbench("size", *SAMPLE, *PROFILES, "--rate", "40", columns=80)
    assert done.returncode == 0, done.stderr
    found = done.stdout.splitlines()
    assert len(found) <= 24
    assert max(map(len, found)) <= 80
    assert found[-1] == "(--details: load of a replica, price of 1M tokens, plots of the latency)"


@pytest.mark.parametrize("words", [("-o", "text"), ("-o", "table"), ("--output=table",)])
def test_both_names_of_the_text_output(words: tuple[str, ...]) -> None:
    """``table`` is the earlier one."""
    assert run("size", *KNEE, *words).stdout == run("size", *KNEE).stdout


def test_what_keeps_no_promise_is_told_with_the_numbers() -> None:
    found = [line.rstrip() for line in size("--rate", "40", "--profile", "SLOW=2x50/0.15@4").stdout.splitlines()]
    assert cells(found, "2 x SLOW") == ["2", "x", "SLOW", "none", "-", "-", "-"]
    assert "2 x SLOW: a token takes 50.15 ms even at " in " ".join(found)
    assert "replica, above the target of 24 ms" in " ".join(" ".join(found).split())


def test_prefill_comes_on_top() -> None:
    """Without it what is predicted is the time in the queue, and it is not called the time to the first token."""
    alone = size("--rate", "40")
    assert "the TTFT target is compared with it alone; measure the prefill time" in alone.stderr
    assert " QUEUEING MS " in alone.stdout
    assert " TTFT MS " not in alone.stdout
    told = size("--rate", "40", "--prefill-ms", "120")
    assert told.stderr == "stack: local\n"
    assert " TTFT MS " in told.stdout
    assert "queueing" not in told.stdout.lower()
    assert "TTFT 500 ms (95 %), of which prefill takes 120 ms" in " ".join(told.stdout.split())


def test_nothing_promised() -> None:
    found = lines("--rate", "40", "--output-tokens", "178", "--slo-itl", "0", *PROFILES, "--details")
    assert found[1].endswith("target: none")
    assert rows_of(found, "A100")[1][3] == "capacity"
    assert not [line for line in found if "the line is the target" in line]


class TestReference:
    ASKED = ("--rate", "480", "--slo-itl", "30", "--slo-ttft", "1000")
    LLAMA = (*ASKED, "--input-tokens", "512", "--output-tokens", "512")

    def test_it_says_that_these_are_no_measurements(self) -> None:
        done = run("size", "--model", "llama-7b", *self.LLAMA)
        told = "Reference figures with their uncertainty range; benchmark before relying on them."
        assert told in " ".join(done.stdout.split())
        assert (
            "note: these are reference figures; benchmark before relying on them: sample data of llm-inferno"
            in done.stderr
        )
        assert "note: the price of Gaudi2, MI300X is unknown; pass --price Gaudi2=<cents per hour>\n" in done.stderr

    def test_the_range_is_that_of_both_ends(self) -> None:
        """WVA spec 12: beta a tenth and twice the batch may be true as well. The figures of both, as profiles."""
        found = lines("--model", "llama-7b", *self.LLAMA)
        assert found[1].startswith("480 requests/min, 512 tokens in and 512 tokens out; ")
        ends = rows("--profile", "A100=1x11.69/0.063@64", "--profile", "B=1x11.69/0.63@32", *self.LLAMA)
        low, high = ends["A100"]["replicas"], ends["B"]["replicas"]
        assert low < high
        assert cells(found, "A100")[1:3] == [str(high), f"({low}..{high})"]
        row = rows("--model", "llama-7b", *self.LLAMA)["A100"]
        assert (row["fastestReplicas"], row["slowestReplicas"]) == (low, high)
        assert (row["fastestBetaMs"], row["slowestBetaMs"]) == (0.063, 0.63)

    def test_batches_are_scaled_and_that_is_told(self) -> None:
        done = run("size", "--model", "llama-7b", *self.LLAMA)
        told = "requests of 512 tokens and are scaled to 1024 tokens: A100 64 -> 32, H100 64 -> 32"
        assert told in done.stderr
        published = run("size", "--model", "llama-7b", *self.ASKED, "--input-tokens", "256", "--output-tokens", "256")
        assert published.code == 0
        assert "reference batches" not in published.stderr

    def test_prompts_that_nobody_told_of(self) -> None:
        told = "note: without --input-tokens, prompts are assumed to be empty"
        assert told in run("size", "--model", "llama-7b", *self.ASKED, "--output-tokens", "512").stderr
        assert told not in run("size", "--model", "llama-7b", *self.LLAMA).stderr
        # Measured without saying for which requests: nothing is scaled.
        assert told not in run("size", "--model", "llama-3.1-8b", *self.ASKED, "--output-tokens", "512").stderr

    @pytest.mark.parametrize("name", ["llama-3.1-8b", "Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct"])
    def test_names_match_leniently(self, name: str) -> None:
        """WVA spec 12: Llama-3.1-8B on H100 6.958/0.042 with 512 at once."""
        row = rows("--model", name, *self.LLAMA)["H100"]
        assert (row["alphaMs"], row["betaMs"], row["batch"]) == (6.958, 0.042, 512)
        assert row["profileSource"].startswith("reference: ")

    def test_prices_are_those_of_the_cheapest_instances(self) -> None:
        found = rows("--model", "llama3-8b", *self.LLAMA)
        assert found["H100"]["priceSource"] == "p5.4xlarge at $6.88/h, the cheapest with it"
        # Two of one instance: those with one are no place for a replica.
        assert found["L40S"]["priceSource"] == "g6e.12xlarge at $10.49264/h, the cheapest with it"
        assert found["L40S"]["centsPerAcceleratorHour"] == pytest.approx(262.316)
        assert found["MI300X"]["priceSource"] is None


def test_some_accelerators_alone() -> None:
    assert list(rows("--rate", "40", *SAMPLE, *PROFILES, "--accelerator", "A100", "--accelerator", "G2")) == [
        "G2",
        "A100",
    ]


class TestChart:
    def parts(self, *arguments: str) -> tuple[list[str], list[str], str]:
        """The two charts with their titles and axes, and the legend."""
        found = lines(*arguments, "--details")
        start = next(place for place, line in enumerate(found) if ": ITL in ms" in line)
        return found[start : start + 8], found[start + 9 : start + 17], found[start + 17]

    def test_latency_rises_with_load(self) -> None:
        itl, ttft, _ = self.parts(*KNEE)
        for chart, last in ((itl, 22.22 / 24), (ttft, 1)):
            rows = [line[9:] for line in chart[1:7]]
            assert all(line[8] == "│" for line in chart[1:7])
            heights = [
                sum(BLOCKS.find(row[column]) + 1 for row in rows if column < len(row))
                for column in range(max(map(len, rows)))
            ]
            assert heights == sorted(heights)
            assert heights[0] < heights[-1]
            assert heights[-1] / (6 * 8) == pytest.approx(last, abs=1 / 48)

    def test_the_wait_has_a_knee(self) -> None:
        """With many at once: next to nothing up to two thirds of the capacity, and then far too much."""
        targets = ("--output-tokens", "512", "--slo-itl", "30", "--slo-ttft", "1000")
        _, waits, _ = self.parts("--rate", "480", *targets, "--profile", "A100=1x11.69/0.63@32")
        lowest, highest = waits[6][9:], waits[1][9:]
        assert set(lowest[: len(lowest) * 2 // 3]) <= set(" ▁")
        assert highest.endswith("████")

    def test_promises_are_lines(self) -> None:
        itl, ttft, _ = self.parts(*KNEE)
        assert itl[0] == "A100: ITL in ms; the line is the target, 24"
        assert ttft[0] == "A100: queueing in ms, 95 %; the line is the target, 500"
        # The axis ends at 2.5 promises: the promise is in the third of six lines from below.
        assert [place for place, line in enumerate(ttft) if "─" in line] == [4, 7]
        assert ttft[1].split()[0] == "1250"

    def test_the_replicas_are_marked_where_they_are(self) -> None:
        """20 a minute each, of 60.62 that a replica can complete."""
        itl, ttft, legend = self.parts(*KNEE)
        for axis in (itl[7], ttft[7]):
            assert axis.count("▲") == 1
            marks = axis.strip()[1:]
            assert (marks.index("▲") + 1) / len(marks) == pytest.approx(20 / 60.6195, abs=1 / len(marks))
        assert legend.strip() == "requests/min of one replica: 20 now, at most 25.31, up to 60.62"

    def test_what_keeps_no_promise_has_no_mark(self) -> None:
        found = run("size", *SAMPLE, "--rate", "40", "--profile", "SLOW=1x50/0.15@4", "--details").stdout
        assert "SLOW: ITL in ms; the line is the target, 24" in found
        assert "▲" not in found

    def test_where_nothing_follows_nothing_is_drawn(self) -> None:
        found = run("size", *SAMPLE, "--rate", "40", "--profile", "FLAT=1x20.58/0@4", "--details").stdout
        assert "ITL in ms;" not in found

    def test_a_terminal_without_blocks(self, tmp_path: Path) -> None:
        done = workbench("size", *KNEE, "--details", cwd=tmp_path, encoding="ascii")
        assert done.returncode == 0, done.stderr
        assert "\\u" not in done.stdout
        assert done.stdout.count("^") == 2
        assert "1250 |" in done.stdout
