"""What holds for a replica whatever happens: it is an engine that goes step by step, and loses nothing."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livefleet.fleet import TokenPace
from livefleet.pace.replica import EngineReplica, Job, JobState
from tests.livefleet.pace.played import events, played
from tests.livefleet.pace.tokens import PlainEngine, Request

paces = st.builds(
    TokenPace,
    alpha=st.sampled_from([0.02, 0.005]),
    beta=st.sampled_from([0.0, 0.001, 0.005]),
    prefill=st.sampled_from([0.0, 0.0001, 0.001]),
    batch=st.sampled_from([1, 2, 4, 16]),
    cache_tokens=st.sampled_from([None, 40, 100, 300]),
    chunk=st.sampled_from([1, 7, 64, 2048]),
    cached=st.sampled_from([0.0, 0.00001, 0.0005]),
    attention=st.sampled_from([0.0, 0.00001]),
    experts=st.sampled_from([0.0, 0.03]),
    untouched=st.sampled_from([1.0, 0.75, 0.0]),
)


@st.composite
def loads(draw: st.DrawFn) -> list[Request]:
    """Return some requests in the order in which they come, some of them cancelled."""
    chance, now, found = random.Random(draw(st.integers(0, 2**32))), 0.0, []
    for _ in range(draw(st.integers(1, 40))):
        now += chance.choice((0.0, chance.expovariate(5), chance.expovariate(1)))
        request = Request(now, chance.randint(0, 60), chance.choice((1, 2, chance.randint(1, 80))))
        if chance.random() < 0.2:
            request.cancelled = now + chance.choice((0.0, chance.expovariate(2)))
        found.append(request)
    return found


class TestStepByStep:
    @given(paces, loads())
    def test_nothing_differs_from_an_engine_without_stretches(self, pace: TokenPace, requests: list[Request]) -> None:
        PlainEngine(pace).run(requests)
        for job, plain in zip(played(pace, requests), requests, strict=True):
            assert job.had == len(plain.tokens)
            assert job.started == pytest.approx(plain.started)
            assert job.first == (pytest.approx(plain.tokens[0]) if plain.tokens else None)
            is_whole = len(plain.tokens) == plain.wanted
            assert job.ended == (pytest.approx(plain.tokens[-1]) if is_whole else None)

    @given(paces, loads(), st.lists(st.floats(0, 60), max_size=30))
    def test_looking_changes_nothing(self, pace: TokenPace, requests: list[Request], looks: list[float]) -> None:
        for seen, unseen in zip(played(pace, requests, looks), played(pace, requests), strict=True):
            assert (seen.started, seen.first, seen.ended) == pytest.approx(
                (unseen.started, unseen.first, unseen.ended)
            )
            assert seen.had == unseen.had


class TestLaws:
    @given(paces, loads())
    def test_every_request_ends_after_it_came(self, pace: TokenPace, requests: list[Request]) -> None:
        kept = [replace(each, cancelled=None) for each in requests]
        jobs = played(pace, kept)
        for job, request in zip(jobs, kept, strict=True):
            assert job.started is not None
            assert job.first is not None
            assert job.ended is not None
            assert job.arrived == request.at <= job.started < job.first <= job.ended
            assert job.had == job.wanted == request.wanted
        started = [job.started for job in jobs]
        assert started == sorted(started, key=lambda each: each or 0.0)

    @given(paces, loads(), st.integers(0, 2**32))
    def test_bounds_are_kept_whenever_one_looks(self, pace: TokenPace, requests: list[Request], seed: int) -> None:
        chance, replica, jobs, seen = (
            random.Random(seed),
            EngineReplica(pace, None, 0.0),
            list[Job](),
            dict[Job, int](),
        )
        for event in events(requests):
            if event.kind == "comes":
                jobs.append(replica.submit(event.at, requests[event.which].prompt, requests[event.which].wanted))
            else:
                replica.cancel(event.at, jobs[event.which])
            replica.advance(event.at + chance.expovariate(10))
            assert replica.running <= pace.batch
            assert replica.running + replica.waiting == sum(job.state is not JobState.OVER for job in jobs)
            if pace.cache_tokens is not None and replica.running > 1:
                assert replica.cached <= pace.cache_tokens
            assert replica.cached >= sum(replica.produced(job) for job in jobs if job.state is JobState.ANSWERING)
            for job in jobs:
                assert seen.get(job, 0) <= replica.produced(job) <= job.wanted
                seen[job] = replica.produced(job)

    @given(paces, loads(), st.integers(1, 80))
    def test_who_asks_again_when_tokens_are_due_gets_them_in_time(
        self, pace: TokenPace, requests: list[Request], tokens: int
    ) -> None:
        """At the moment itself, unless others wait: then it is at most a quarter too late. Asking ends."""
        kept = [replace(each, cancelled=None, at=0.0) for each in requests]
        PlainEngine(pace).run(kept)
        watched = EngineReplica(pace, None, 0.0)
        jobs = [watched.submit(0.0, each.prompt, each.wanted) for each in kept]
        job, now, asked = jobs[-1], 0.0, 0
        wanted = min(tokens, job.wanted)
        while watched.produced(job) < wanted:
            now = max(watched.due(job, wanted), now + 1e-6)
            watched.advance(now)
            asked += 1
            assert asked < 1_000
        moment = kept[-1].tokens[wanted - 1]
        late = 0.25 * moment if len(jobs) > 1 else 0.0
        assert moment - 1e-6 <= now <= moment + late + 1e-5

    @given(st.floats(0, 2e9), st.floats(1e-4, 1.0), st.integers(1, 10_000), st.integers(1, 10_000))
    def test_rounding_takes_no_token_away(self, start: float, alpha: float, tokens: int, more: int) -> None:
        """At the very moment that is told, since the epoch as well: not one step later."""
        replica = EngineReplica(TokenPace(alpha, 0.0, 0.0, 1), None, start)
        job = replica.submit(start, 0, tokens + more)
        replica.advance(replica.due(job, tokens))
        assert replica.produced(job) == tokens
