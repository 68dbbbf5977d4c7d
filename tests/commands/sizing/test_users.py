"""``size --users``: the replicas for users who wait, checked by a simulation."""

import pytest

from tests.commands.sizing.runs import rows
from tests.hostile.runs import run

TARGETS = ("--input-tokens", "1000", "--output-tokens", "300", "--itl", "30", "--ttft", "1500")
USERS = ("--users", "300", "--think", "10")
MODELS = ("qwen3-8b", "gpt-oss-120b", "llama-3.1-8b", "qwen2.5-14b-instruct")


@pytest.mark.parametrize("model", MODELS)
def test_one_replica_fewer_misses_a_target(model: str) -> None:
    found = rows("--model", model, *TARGETS, *USERS)
    feasible = [row for row in found.values() if row["feasible"]]
    assert feasible
    assert any(row["replicas"] > 1 for row in feasible)
    for row in feasible:
        assert row["simulatedItlMs"] <= 30
        assert row["simulatedTtftP95Ms"] <= 1500
        if row["replicas"] == 1:
            assert row["fewerItlMs"] is None
        else:
            assert row["fewerItlMs"] > 30 or row["fewerTtftP95Ms"] > 1500


def test_the_load_that_breaks_the_answer() -> None:
    first = next(iter(rows("--model", "qwen3-8b", *TARGETS, *USERS).values()))
    assert first["chosen"]
    assert 300 <= first["mostUsers"] < first["brokenUsers"] <= first["mostUsers"] * 1.02
    assert first["mostItlMs"] <= 30
    assert first["brokenItlMs"] > 30 or first["brokenTtftP95Ms"] > 1500


def test_the_rate_follows_from_the_users() -> None:
    for row in rows("--model", "qwen3-8b", *TARGETS, *USERS).values():
        if row["feasible"]:
            assert row["requestsPerMinute"] == pytest.approx(row["replicas"] * row["perReplicaPerMinute"], rel=1e-6)
            round_s = 10 + row["responseMs"] / 1000
            assert row["requestsPerMinute"] / 60 * round_s == pytest.approx(300, rel=1e-3)


def test_a_profile_without_prompts() -> None:
    """A replica takes 100 ms for a token of one request alone: no replicas meet the target."""
    arguments = ("--profile", "L40S=1x99/1@32", "--output-tokens", "50", "--users", "4", "--itl")
    refused = rows(*arguments, "90", code=1)["L40S"]
    assert (refused["feasible"], refused["replicas"]) == (False, None)
    assert refused["reason"]
    assert rows(*arguments, "104")["L40S"]["replicas"] == 1


def test_what_people_read() -> None:
    done = run("size", "--model", "qwen3-8b", *TARGETS, *USERS, "--accelerator", "A10G")
    assert done.code == 1
    assert "A10G: " in done.stdout
    done = run("size", "--model", "qwen3-8b", *TARGETS, *USERS, "--accelerator", "L40S")
    assert done.code == 0
    shown = " ".join(done.stdout.split())
    assert "300 users who think 10 s, 1000 tokens in and 300 tokens out; target: ITL 30 ms" in shown
    for text in (" replicas on L40S, $", " a month", "Simulated, 3,00", "One replica fewer: ", "serve up to "):
        assert text in shown, text


def test_too_many_users_for_a_simulation() -> None:
    done = run("size", "--model", "qwen3-8b", *TARGETS, "--users", "5001", "--think", "60")
    assert "By the queueing model alone: a simulation of 5,001 users would take too long." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--think", "5", "--rate", "5"), "--think: needs --users"),
        (("--users", "5", "--rate", "5"), "--users and --rate cannot be used together"),
        (("--users", "5", "--literal"), "--users and --literal cannot be used together"),
        (("--users", "5", "--scale-to-zero"), "--users and --scale-to-zero cannot be used together"),
        (("--users", "0"), "--users: must be a whole number of users such as 50, from 1"),
        (("--users", "2.5"), "--users: must be whole users"),
        (("--users", "5", "--think", "100000"), "--think: must be 0, or from 0.001 to 86400 seconds"),
        (("--users", "5", "--itl", "0", "--ttft", "0"), "--users: without a target"),
    ],
)
def test_refused(arguments: tuple[str, ...], message: str) -> None:
    done = run("size", "--model", "qwen3-8b", *TARGETS, *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr
