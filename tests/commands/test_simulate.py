"""``workbench simulate``: what it prints, in both forms, and what it refuses."""

import json
import struct
import zlib
from pathlib import Path

import pytest

from tests.commands.simulations import MANIFESTS, result, series, simulate, write
from tests.commands.support import workbench


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path)


class TestJson:
    def test_literal_is_the_golden_vector(self, folder: Path) -> None:
        found = result(folder, "--literal", "--start", "chat=1")
        assert series(found) == [4, 4, 4, 4, 4, 2, 2, 1, 1]
        assert found["defects"] == ["D-15", "D-16", "D-17", "D-18", "D-19", "M2"]

    def test_everything_is_in_it(self, folder: Path) -> None:
        found = result(folder, "--price", "chat=2.4")
        assert found["binding"] == "AutoscalingPolicyBinding/chat"
        assert found["policy"] == "AutoscalingPolicy/queue"
        assert (found["namespace"], found["metrics"]) == ("default", {"load": 10.0})
        assert found["targets"] == {"chat": {"min": 1, "max": 10}}
        assert (found["start"], found["defects"], found["difference"]) == ({"chat": 1}, [], None)
        assert found["usdPerReplicaHour"] == {"chat": 2.4}
        assert found["loads"][1] == {"time": 15.0, "load": 12.0}
        first = {"time": 0.0, "replicas": {"chat": 4}, "total": 4, "wanted": 4, "note": "panic"}
        assert found["runs"][0]["passes"][0] == first
        # 4 replicas for 75 s, 2 for 30 s and 1 for 30 s, at 2.4 USD an hour.
        measures = found["runs"][0]["measures"]
        assert measures["replicaHours"] == pytest.approx(0.108333, abs=1e-6)
        assert measures["usd"] == pytest.approx(0.26)
        assert (measures["changes"], measures["peakReplicas"], measures["secondsAboveTarget"]) == (3, 4, 0)

    def test_it_is_the_same_every_time_and_from_both_formats(self, folder: Path) -> None:
        first = simulate(folder, "--output", "json").stdout
        assert simulate(folder, "--output", "json").stdout == first
        assert simulate(folder, "--output", "json", trace="trace.jsonl").stdout == first

    def test_one_defect(self, folder: Path) -> None:
        (folder / "trace.csv").write_text("time,load\n0,10.5\n")
        assert series(result(folder, "--start", "chat=5")) == [2]
        assert series(result(folder, "--start", "chat=5", "--defect", "D-15")) == [5]
        assert series(result(folder, "--start", "chat=5", "--defect", "D-16", "--defect", "D-17")) == [2]

    def test_an_optimizer_fills_the_cheapest_first(self, folder: Path) -> None:
        """Spec 4.5: totals 5 and 9 are (3, 2) and (5, 4); the load of 3 is (1, 2)."""
        found = result(folder, binding="both", trace="both.csv")
        replicas = [tuple(each["replicas"].values()) for each in found["runs"][0]["passes"]]
        assert replicas[1:3] == [(3, 2), (5, 4)]
        assert found["start"] == {"big": 1, "small": 0}

    def test_start_from_the_trace_and_from_the_command_line(self, folder: Path) -> None:
        (folder / "trace.csv").write_text("time,load,ready,starting\n0,10,2,3\n")
        assert result(folder)["start"] == {"chat": 5}
        assert result(folder, "--start", "chat=7")["start"] == {"chat": 7}

    def test_steps_hold_the_row_before(self, folder: Path) -> None:
        (folder / "trace.csv").write_text("time,load\n0,10\n60,90\n")
        assert [each["time"] for each in result(folder, "--every", "15")["loads"]] == [0, 15, 30, 45, 60]
        assert [each["time"] for each in result(folder)["loads"]] == [0, 60]

    def test_another_policy(self, folder: Path) -> None:
        other = MANIFESTS.split("---")[0].replace("queue", "other").replace('"10"', '"5"')
        (folder / "models.yaml").write_text(f"{MANIFESTS}---{other}")
        done = simulate(folder, "--output", "json", "--policy", "other")
        assert json.loads(done.stdout)["metrics"] == {"load": 5.0}
        assert "note: the binding names the policy 'queue', but is simulated with 'other'\n" in done.stderr


class TestText:
    def test_plot_changes_and_measures(self, folder: Path) -> None:
        done = simulate(folder, "--price", "chat=2.4")
        assert (done.code, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        title = "AutoscalingPolicyBinding/chat with AutoscalingPolicy/queue: 9 passes from 0 s to 120 s"
        assert " ".join(" ".join(lines[:2]).split()) == title
        assert lines[2:4] == [
            "Kthena: 0.108 replica-hours, $0.26, 0 s above target, 3 changes, at most 4",
            "  replicas",
        ]
        assert lines[4:9] == [
            "load, 10 for each replica",
            "35 │█",
            "   │█",
            "   │█▃▃▃▃▃▃",
            " 0 │███████▅",
        ]
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80

    @pytest.mark.parametrize("option", ["--details", "--all"])
    def test_only_what_changes_without_details(self, folder: Path, option: str) -> None:
        """``--all`` is the earlier name of the option."""
        few, all_rows = (simulate(folder, *options).stdout.splitlines() for options in ((), (option,)))
        # The last line says what is left out.
        assert len(all_rows) - (len(few) - 1) == 9 - 3
        assert [line.split() for line in few if line.startswith(" 75 s")] == [["75", "s", "12", "2"]]

    def test_both_names_of_the_text_output(self, folder: Path) -> None:
        assert simulate(folder, "-o", "text").stdout == simulate(folder, "-o", "table").stdout

    def test_a_terminal_without_blocks(self, folder: Path) -> None:
        done = workbench(
            "simulate", "models.yaml", "--binding", "chat", "--metrics", "trace.csv", cwd=folder, encoding="ascii"
        )
        assert done.returncode == 0, done.stderr
        assert "35 |#" in done.stdout
        assert "\\u" not in done.stdout

    def test_notes(self, folder: Path) -> None:
        (folder / "trace.csv").write_text("time,load,other\n0,10,1\n60,90,1\n120,90,1\n")
        done = simulate(folder)
        assert [line.split(": ")[0] for line in done.stderr.splitlines()] == ["warning", "note", "note"]
        assert "trace.csv:1: other: has no effect: the policy has the metrics load; remove the column" in done.stderr
        assert "the trace has a row every 60 s" in done.stderr
        assert "the price of a replica of chat is unknown; pass --price chat=<USD per hour>" in done.stderr


def chunks(data: bytes) -> dict[str, bytes]:
    """Chunks of a PNG, each with its checksum tested."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    found: dict[str, bytes] = {}
    place = 8
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + body)
        found[kind.decode()] = found.get(kind.decode(), b"") + body
        place += 12 + length
    return found


def test_the_plot_is_a_picture_and_always_the_same(folder: Path) -> None:
    for name in ("one.png", "two.png"):
        assert simulate(folder, "--plot", str(folder / name)).code == 0
    picture = (folder / "one.png").read_bytes()
    found = chunks(picture)
    assert struct.unpack(">II", found["IHDR"][:8]) == (1200, 720)
    assert len(set(zlib.decompress(found["IDAT"]))) > 2
    assert "tEXt" not in found
    assert (folder / "two.png").read_bytes() == picture


REFUSED = [
    (("--binding", "chta"), "no AutoscalingPolicyBinding named 'chta'; did you mean 'chat'?"),
    (("--binding", "elsewhere/chat"), "no AutoscalingPolicyBinding named 'elsewhere/chat'"),
    (("--policy", "nosuch"), "no AutoscalingPolicy named 'nosuch' (available: queue)"),
    (("--defect", "D-1"), "--defect: 'D-1' is not a known defect"),
    (("--price", "chat"), "--price: must be TARGET=VALUE, found 'chat'"),
    (("--price", "chat=cheap"), "--price chat: must be US dollars per hour such as 2.5, found 'cheap'"),
    (("--price", "chat=-1"), "--price chat: must be US dollars"),
    (("--price", "chta=1"), "--price: 'chta' is not a target of the binding; did you mean 'chat'?"),
    (("--start", "chat=1.5"), "--start chat: must be a number of pods from 0 to 1000000, found '1.5'"),
    (("--start", "x=1"), "--start: 'x' is not a target of the binding; the binding scales chat"),
    (("--every", "soon"), "--every: must be seconds from 0.001 to 86400 such as 15, found 'soon'"),
    (("--every", "0"), "--every: must be seconds"),
    (("--plot", "picture.svg"), "--plot: must be a file that ends in .png, found 'picture.svg'"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_wrong_usage(folder: Path, arguments: tuple[str, str], message: str) -> None:
    done = simulate(folder, *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr


def test_defects_are_explained(folder: Path) -> None:
    done = simulate(folder, "--defect", "x")
    assert [line.split(":")[0].strip() for line in done.stderr.splitlines()[2:]] == [
        "D-15",
        "D-16",
        "D-17",
        "D-18",
        "D-19",
        "M2",
    ]


def test_wrong_manifests(folder: Path) -> None:
    (folder / "models.yaml").write_text(MANIFESTS.replace('"10"', '"0"'))
    done = simulate(folder)
    assert (done.code, done.stdout) == (1, "")
    assert "spec.metrics[0].targetValue: must be above 0, found '0'" in done.stderr


def test_wrong_traces(folder: Path) -> None:
    (folder / "trace.csv").write_text("time,load\n0,x\n15,\n10,5\n")
    done = simulate(folder)
    assert (done.code, done.stdout) == (1, "")
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        f"{folder / 'trace.csv'}:{line}" for line in (2, 4)
    ]
    (folder / "trace.csv").write_bytes(b"time,load\n0,\xff\n")
    assert f"{folder / 'trace.csv'}:2: not UTF-8 text; save the file as UTF-8" in simulate(folder).stderr


def test_steps_that_are_too_short(folder: Path) -> None:
    (folder / "trace.csv").write_text("time,load\n0,1\n1000000000,1\n")
    done = simulate(folder, "--every", "0.001")
    assert (done.code, done.stdout) == (2, "")
    assert "--every: 1000000000001 passes in the 1000000000 s of the trace exceed the limit of 1000000" in done.stderr
    assert simulate(folder).code == 0


def test_hostile_names_are_escaped(folder: Path) -> None:
    metric = "\x1b[31mload\n${X} $(X) $1^2$ \u202e\u6f22 [bold]"
    (folder / "models.yaml").write_text(MANIFESTS.replace("metricName: load", f"metricName: {json.dumps(metric)}"))
    (folder / "trace.jsonl").write_text(json.dumps({"time": 0, metric: 95, "\x1b[31mother": 1}))
    done = simulate(folder, "--plot", str(folder / "p.png"), trace="trace.jsonl")
    assert done.code == 0, done.stderr
    for text in (done.stdout, done.stderr):
        assert not {"\x1b", "\u202e"} & set(text)
    assert "\\x1b[31mload\\x0a${X} $(X) $1^2$ \\u202e\u6f22 [bold]" in done.stdout
    assert chunks((folder / "p.png").read_bytes())


def test_very_many_problems_are_counted(folder: Path) -> None:
    (folder / "trace.csv").write_text("time,load\n" + "".join(f"{number},x\n" for number in range(150)))
    lines = simulate(folder).stderr.splitlines()
    assert (len(lines), lines[-1]) == (101, "and 50 more")


def test_a_missing_trace(folder: Path) -> None:
    done = simulate(folder, trace="nosuch.csv")
    assert (done.code, done.stdout) == (1, "")
    assert "nosuch.csv: cannot be read: No such file or directory" in done.stderr


def test_stdin(folder: Path) -> None:
    trace = (folder / "trace.csv").read_text()
    command = ("simulate", "models.yaml", "--binding", "chat", "--output", "json", "--metrics", "-")
    done = workbench(*command, text=trace, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == simulate(folder, "--output", "json").stdout
    done = workbench("simulate", "-", "--binding", "chat", "--metrics", "-", text=trace, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "stdin cannot hold both manifests and the trace; write one of them to a file\n"


@pytest.mark.parametrize(
    ("endpoint", "literal", "expected"),
    [("", True, 3), ("", False, 9), (", metricEndpoint: {}", True, 9), (", metricEndpoint: {port: 9}", True, 9)],
)
def test_a_binding_without_metric_endpoint(folder: Path, endpoint: str, expected: int, *, literal: bool) -> None:
    """The controller asks at port 0 and gets nothing (D-19); the API server fills in what an empty one leaves out."""
    (folder / "models.yaml").write_text(MANIFESTS.replace(", metricEndpoint: {}", endpoint))
    (folder / "trace.csv").write_text("time,load\n0,85\n15,85\n")
    found = result(folder, *(["--literal"] if literal else []), "--start", "chat=3")
    assert series(found)[-1] == expected
