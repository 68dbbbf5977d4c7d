"""Traces: two formats that say the same, and every problem at its line and column."""

import json
from decimal import Decimal
from random import Random

import pytest

from components.performance.simulation.trace import Histogram, Reported, Sample, Trace
from components.performance.simulation.trace_reader import read_trace

CSV = """time,target,queue,ready,failed,starting
0,a,5,2,,
15,a,7.5,2,,1
30.5,a,,,1,
"""
LINES = """
{"time": 0, "target": "a", "queue": 5, "ready": 2}
{"time": 15, "target": "a", "queue": 7.5, "ready": 2, "failed": 0, "starting": 1}

{"time": "30.5", "target": "a", "queue": null, "failed": 1}
"""


def number(text: str) -> dict[str, Reported]:
    return {"": Reported(Decimal(text))}


EXPECTED = Trace(
    {
        "a": [
            (0, Sample({"queue": number("5")}, 2)),
            (15_000, Sample({"queue": number("7.5")}, 2, 0, 1)),
            (30_500, Sample({}, None, 1)),
        ]
    }
)


@pytest.mark.parametrize("text", [CSV, LINES, CSV.replace("\n", "\r\n"), CSV.replace(",a,", ", a ,")])
def test_both_formats_say_the_same(text: str) -> None:
    assert read_trace(text, "t", ["a"], ["queue"]) == (EXPECTED, [])


def test_the_only_target_needs_no_name() -> None:
    text = "time,queue\n0,5\n15,7.5\n"
    trace, problems = read_trace(text, "t.csv", ["a"], ["queue"])
    assert problems == []
    assert [time for time, _ in trace.targets["a"]] == [0, 15_000]


def test_times_of_the_calendar() -> None:
    text = "time,queue\n2026-05-04T12:00:00Z,5\n2026-05-04T14:00:15+02:00,7\n"
    trace, problems = read_trace(text, "t.csv", ["a"], ["queue"])
    assert problems == []
    assert [time for time, _ in trace.targets["a"]] == [1_777_896_000_000, 1_777_896_015_000]


def test_histograms_and_pods() -> None:
    value = {"pods": {"p": {"buckets": {"+Inf": 9, "0.5": 3, "1": 4}, "started": 12}, "q": 2}}
    text = json.dumps({"time": 0, "h": value, "g": {"buckets": {"+Inf": 1}}})
    trace, problems = read_trace(text, "t", ["a"], ["h", "g"])
    assert problems == []
    infinite = Decimal("Infinity")
    assert trace.targets["a"][0][1].metrics == {
        "h": {
            "p": Reported(Histogram((Decimal("0.5"), Decimal(1), infinite), (3, 4, 9)), "12"),
            "q": Reported(Decimal(2)),
        },
        "g": {"": Reported(Histogram((infinite,), (1,)))},
    }


def problems_of(text: str, targets: tuple[str, ...] = ("a",)) -> list[str]:
    return [str(problem) for problem in read_trace(text, "t", targets, ["queue"])[1]]


ROWS = [
    ("0,a,5,1,-1,", "t:2: failed: must be a number of pods from 0 to 1000000, found '-1'"),
    ("0,a,5,1.5,,", "t:2: ready: must be a number of pods"),
    ("0,a,5,,,1000001", "t:2: starting: must be a number of pods"),
    ("0,a,five,,,", "t:2: queue: must be a number from 0 to 1e+15"),
    ("0,a,-5,,,", "found '-5'; correct it"),
    ("0,a,nan,,,", "t:2: queue: must be a number"),
    ("0,a,1e99,,,", "t:2: queue: must be a number"),
    ("0,a,1e-99,,,", None),
    (",a,5,,,", "t:2: time: is required"),
    ("yesterday,a,5,,,", "t:2: time: must be seconds such as 15"),
    ("-1,a,5,,,", "t:2: time: must be seconds"),
    ("2026-05-04,a,5,,,", "t:2: time: must be seconds"),
    ("2026-05-04T12:00:00,a,5,,,", "t:2: time: must be seconds"),
    ("99999999999999,a,5,,,", "t:2: time: must be seconds"),
    ("0,a,5", "t:2: has 3 columns, and the header 6; add or remove commas"),
    ('0,"a,5,,,', "t:2: is not valid CSV: unexpected end of data"),
    (
        "0,a,5,,,\n0,a,6,,,",
        "t:3: time: must be after that of the target's previous row, found 0 s, the same as in line 2",
    ),
    ("15,a,5,,,\n0,a,6,,,", "found 0 s, before the 15 s in line 2; sort the rows by time"),
    ("0,b,5,,,", "t:1: target: no row has the target 'a' (found 'b')"),
    ("0,a,5,,,\n15,b,5,,,", "t:1: target: rows of 'b' have no effect: the binding scales a; remove them"),
]


@pytest.mark.parametrize(("rows", "expected"), ROWS)
def test_rows(rows: str, expected: str | None) -> None:
    found = problems_of(f"{CSV.splitlines()[0]}\n{rows}\n")
    assert [text for text in found if (expected or "") in text] or expected is None, found
    assert len(found) == (expected is not None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "t:1: is empty; write a header such as time,target,<metric>,ready,failed,starting, and rows"),
        ("tme,queue\n0,1\n", "t:1: the header has no column time, found 'tme, queue'; add it"),
        ("time,queue,queue\n0,1,1\n", "t:1: queue: is in the header twice; remove or rename one of the two"),
        ("time,quue\n0,1\n", "(found 'quue'; did you mean 'quue'?); add"),
        ("time,queue\n", "t:1: target: no row has the target 'a' (found none)"),
        (
            '{"time": 0, "queue": NaN}',
            "t:1: is not a JSON object: NaN is not a JSON number; write one object per line",
        ),
        ('{"time": 0, "time": 1}', "a key appears twice in the same object"),
        ('{"time": 0,\n"queue": 1}', "t:1: is not a JSON object: "),
        ('{"time": 0, "queue": 1}\n[1]', "t:2: must be a JSON object with a time, found [1]; correct it"),
        ('{"time": true, "queue": 1}', "t:1: time: must be seconds"),
        ('{"time": 0, "queue": [1]}', "t:1: queue: must be a number"),
        ('{"time": 0, "queue": {"buckets": {}}}', "buckets must be a map from upper bounds to counts, found {}"),
        ('{"time": 0, "queue": {"buckets": {"1": 2}}}', "buckets must have the upper bound +Inf"),
        ('{"time": 0, "queue": {"buckets": {"1": 2, "+Inf": 1}}}', "the counts of buckets must not decrease"),
        ('{"time": 0, "queue": {"buckets": {"x": 2, "+Inf": 3}}}', "an upper bound must be a number from 0, or +Inf"),
        ('{"time": 0, "queue": {"buckets": {"1": 1, "1.0": 1, "+Inf": 3}}}', "has an upper bound twice"),
        ('{"time": 0, "queue": {"buckets": {"1": 0.5, "+Inf": 3}}}', "the count of a bucket must be a whole number"),
        ('{"time": 0, "queue": {"bucket": {}}}', "must have no keys except buckets and started, found 'bucket'"),
        ('{"time": 0, "queue": {"pods": [1]}}', "pods must be a map from pods to values, found [1]"),
        ('{"time": 0, "target": 5, "queue": 1}', "t:1: target: must be the name of a target, found 5"),
        ('{"time": 0, "queue": 1' + "0" * 5000 + "}", "t:1: is not a JSON object: a number has too many digits"),
        ('{"time": 0, "queue": ' + "[" * 100_000, "t:1: is not a JSON object: "),
    ],
)
def test_texts(text: str, expected: str) -> None:
    found = problems_of(text)
    assert any(expected in each for each in found), found
    assert all(len(each) < 400 for each in found)


def test_several_targets_must_be_named() -> None:
    found = problems_of("time,queue\n0,5\n", ("a", "b"))
    assert found[0] == "t:2: target: is required: there are several; write one of a, b"


def test_a_metric_that_no_column_can_have() -> None:
    found = read_trace("time,ready\n0,5\n", "t", ["a"], ["ready"])[1]
    assert [str(problem) for problem in found] == [
        "t:1: ready: is a metric of the policy, but this column has another meaning in traces; rename the metric"
    ]


def test_hostile_text_is_quoted() -> None:
    found = problems_of("time,queue\n\x1b[31m${X}$(X),5\n")
    assert "\\x1b" in found[0]
    assert "\x1b" not in found[0]


def test_nothing_raises() -> None:
    """Random changes of a good trace: read, or refused with the line."""
    letters = "0159.,-+eE\"'{}[]:\n\r\t \x00\u2028ä\ud800ntx"
    random = Random(13)
    for _ in range(3_000):
        text = list(random.choice([CSV, LINES]))
        for _ in range(random.randint(1, 6)):
            place = random.randrange(len(text))
            text[place : place + random.randint(0, 2)] = random.choice(letters)
        for problem in read_trace("".join(text), "t", ["a"], ["queue"])[1]:
            assert problem.line >= 1
            assert "\n" not in str(problem)


def test_ticks_hold_the_row_before() -> None:
    trace, _ = read_trace("time,target,queue\n0,a,1\n20,b,2\n40,a,3\n", "t", ["a", "b"], ["queue"])

    def queue(tick) -> tuple[int, dict[str, int]]:
        samples = tick.samples.items()
        return tick.time, {target: int(sample.metrics["queue"][""].value) for target, sample in samples}

    assert [queue(tick) for tick in trace.ticks()] == [
        (0, {"a": 1}),
        (20_000, {"a": 1, "b": 2}),
        (40_000, {"a": 3, "b": 2}),
    ]
    assert [queue(tick) for tick in trace.ticks(15_000)] == [
        (0, {"a": 1}),
        (15_000, {"a": 1}),
        (30_000, {"a": 1, "b": 2}),
    ]
