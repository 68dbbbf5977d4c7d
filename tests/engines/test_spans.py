"""Spans of versions in every table of every engine: bounds in order, no gap and no overlap that decides anything.

Where the release that brought a flag is not known, a span says between which two it was (``absent`` and ``from``),
and nothing is refused there. That is no answer where something else is written in a flag's place: those spans are
exact.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from components.engines.flags.rows import Flag
from components.engines.flags.tables import EngineFlags, flags_of
from components.engines.metrics import EngineMetrics, Metric, engine_metrics
from components.engines.registry import Engine, engines
from components.engines.settings import Setting
from components.engines.versions import Version, VersionSpan

FAMILIES = Path(__file__).parents[2] / "components" / "families"
ENGINES = tuple(engines().values())
TABLES = tuple(table for engine in ENGINES if (table := flags_of(engine.name)))
LATER = (10**6,)
"""A version after every one in a table."""


def bounds(span: VersionSpan) -> list[Version]:
    return [bound for bound in (span.absent, span.since, span.until) if bound]


def spans(engine: Engine) -> Iterator[tuple[str, VersionSpan]]:
    """Yield every span that is known of an engine, with what it is of."""
    yield from ((f"feature {name}", span) for name, span in engine.features.items())
    yield from ((f"group {number}", VersionSpan.from_row(row)) for number, row in enumerate(engine.groups))
    if engine.user:
        yield "user", engine.user.span
    if engine.name in engine_metrics():
        yield from ((metric.name, metric.span) for metric in engine_metrics()[engine.name].metrics)
    table = flags_of(engine.name)
    for flag in table.flags if table else ():
        yield flag.name, flag.span
        for form in (*flag.earlier, flag.form):
            yield from ((f"{flag.name} {choice.value}", choice.span) for choice in form.values)


def asked_for() -> set[Setting]:
    """Return the settings for which the families write something else where a version lacks the flag."""
    found = set()
    for path in FAMILIES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "knows":
                (setting,) = node.args
                assert isinstance(setting, ast.Attribute), path
                found.add(Setting[setting.attr])
    return found


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_bounds_are_in_order(engine: Engine) -> None:
    for what, span in spans(engine):
        assert bounds(span) == sorted(set(bounds(span))), what
        assert not (span.until and (span.gone or span.never)), what
        if span.deprecated and not isinstance(span.deprecated, bool):
            assert span.includes(span.deprecated), what


def before(version: Version) -> Version:
    """Return a version that is earlier than another one, and later than all that are earlier by a whole number."""
    return (*version[:-1], version[-1] - 1, LATER[0])


def is_exact(span: VersionSpan) -> bool:
    """Tell whether of every version it is known if it is in the span."""
    return not span.gone and (span.absent is None or span.never)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_what_something_else_is_written_for_is_known_of_every_version(engine: Engine) -> None:
    table = flags_of(engine.name)
    assert {Setting.ATTENTION_BACKEND, Setting.DRAFT_MODEL} <= asked_for()
    assert all(is_exact(span) for span in engine.features.values())
    for setting in asked_for() & set(engine.settings) if table else ():
        for name in engine.settings[setting][:1]:
            flag = table.find(name) if table else None
            # What the newest servers of an engine by builds dropped is not asked for: nobody else has that problem.
            assert flag, name
            assert is_exact(flag.span) or engine.builds, f"{engine.name} {name}"


@pytest.mark.parametrize("engine", [e for e in ENGINES if e.groups], ids=lambda engine: engine.name)
def test_each_version_has_one_way_to_join_pods(engine: Engine) -> None:
    rows = [VersionSpan.from_row(row) for row in engine.groups]
    edges = {edge for span in rows for edge in bounds(span)} | {(0,), LATER}
    for version in (*edges, None):
        assert sum(span.includes(version) for span in rows) == 1, version


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.engine.name)
def test_a_flag_is_there_until_its_heir_is(table: EngineFlags) -> None:
    """Between a flag and what took its place there is no version with neither, apart from vLLM 0.11.0."""
    for flag in table.flags:
        if flag.name == "--max-seq-len-to-capture":
            continue
        heir: Flag | None = table.find(flag.replacement) if flag.replacement else None
        if heir and flag.span.until and heir.span.since and heir.span.absent is None:
            assert heir.span.since <= flag.span.until, flag.name


@pytest.mark.parametrize("facts", engine_metrics().values(), ids=lambda facts: facts.engine)
def test_a_metric_is_there_until_its_heir_is(facts: EngineMetrics) -> None:
    metrics: tuple[Metric, ...] = facts.metrics
    by_name = {metric.name: metric for metric in metrics}
    for metric in metrics:
        heir = by_name.get(metric.instead or "")
        if heir and metric.span.until and heir.span.since:
            assert heir.span.since <= metric.span.until, metric.name


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.engine.name)
def test_forms_follow_one_another_within_the_life_of_a_flag(table: EngineFlags) -> None:
    for flag in table.flags:
        forms = (*flag.earlier, flag.form)
        for form, following in pairwise(forms):
            assert form.last, flag.name
            assert form.until is None or form.last < form.until, flag.name
            assert following.last is None or form.last < following.last, flag.name
            assert not flag.span.is_after(form.last), f"{flag.name} is gone before it takes {following.type}"
            assert not flag.span.is_before(form.last), f"{flag.name} comes after it takes {form.type}"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.engine.name)
def test_each_choice_is_there_in_some_version_of_its_flag(table: EngineFlags) -> None:
    for flag in table.flags:
        for choice in (choice for form in (*flag.earlier, flag.form) for choice in form.values):
            ends = [*bounds(flag.span), *bounds(choice.span)]
            edges = [*ends, *map(before, ends), None]
            assert any(flag.span.includes(edge) and choice.span.includes(edge) for edge in edges), (
                flag.name,
                choice.value,
            )


def test_a_gap_is_told_from_an_exact_bound() -> None:
    """The counter-examples of the checks above."""
    assert not is_exact(VersionSpan(since=(0, 13), absent=(0, 11)))
    assert is_exact(VersionSpan(since=(0, 13)))
    assert bounds(VersionSpan(since=(2,), until=(1,))) != sorted(bounds(VersionSpan(since=(2,), until=(1,))))
