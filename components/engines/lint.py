"""Checks an engine's arguments against what the version in its image tag knows (LLMKube spec 8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..api.findings import Findings
from ..api.problems import Severity, did_you_mean
from .command_line import FlagUse, split, start_of
from .flags import CLAP, LLAMA, EngineFlags, flags_of
from .rows import BOOL, SWITCH, Flag, Form, Version
from .values import expected, fault, is_filled_later

_TRUTH = ("true", "false", "on", "off", "yes", "no", "1", "0")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with one argument.

    Attributes:
        position: Which one: its place among the arguments.
        severity: ``error`` where the engine refuses it, else ``warning``.
    """

    position: int
    severity: Severity
    reason: str


@dataclass(frozen=True, slots=True)
class _Engine:
    """The engine that reads the arguments: its flags, its version (None is the newest) and how to name it."""

    table: EngineFlags
    version: Version | None
    title: str


def lint(engine: str, args: Sequence[str], tag: str, command: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Return what is wrong with arguments, in their order.

    Args:
        engine: Name of the engine in the catalog; nothing is found for one without a table of flags.
        args: The container's arguments. What is filled in later, as ``$(NAME)``, is not looked into.
        tag: Tag of the image. One without a version, such as ``latest`` or ``server-cuda13``, counts as the newest.
        command: The container's command. Where it runs something else than the engine, such as a shell, nothing is
            found. Flags in there are read, and what is found in them is not returned.
    """
    table = flags_of(engine)
    start = start_of(table, command, args, tag) if table else None
    if table is None or start is None:
        return ()
    reader = _Engine(table, table.version(tag), f"{engine} {tag or '(newest version)'}")
    uses = split(table, [*command, *args][start:], reader.version)
    found = [*_strays(uses, reader), *_repeats(uses, reader), *_exclusions(uses)]
    for use in uses:
        found += [] if use.stray else _use(use, reader)
    moved = (replace(finding, position=finding.position + start - len(command)) for finding in found)
    kept = [finding for finding in moved if finding.position >= 0]
    return tuple(sorted(kept, key=lambda finding: (finding.position, finding.reason)))


def report(
    findings: Findings,
    path: str,
    engine: str,
    args: Sequence[str],
    tag: str,
    *,
    command: Sequence[str] = (),
    skip: int = 0,
    origins: Sequence[int] | None = None,
) -> None:
    """Record what is wrong with the arguments that a field of a resource gives.

    Args:
        findings: Where to report.
        path: The field, a list: its elements are blamed, as ``spec.extraArgs[3]``.
        engine: Name of the engine in the catalog.
        args: The whole command line.
        tag: Tag of the image.
        command: The container's command.
        skip: How many arguments come before those of the field. They are read, since they may be the same flags, and
            what is found in them is not recorded.
        origins: Which element of the field each of its arguments was made of, where they were rewritten.
    """
    for finding in lint(engine, args, tag, command):
        position = finding.position - skip
        if position >= 0:
            index = position if origins is None else origins[position]
            findings.record(f"{path}[{index}]", finding.reason, finding.severity)


def _use(use: FlagUse, engine: _Engine) -> Iterator[Finding]:
    flag = use.flag
    if flag is None:
        yield _unknown(use, engine)
    elif not flag.span.is_in(engine.version):
        yield Finding(use.position, Severity.ERROR, _other_version(use.name, flag, engine))
    else:
        if flag.span.is_deprecated(engine.version):
            remedy = _remedy(flag, "remove it")
            yield Finding(use.position, Severity.WARNING, f"{use.name} is deprecated in {engine.title}; {remedy}")
        yield from _given(use, flag, flag.at(engine.version), engine)


def _unknown(use: FlagUse, engine: _Engine) -> Finding:
    known = [name for flag in engine.table.flags if flag.span.is_in(engine.version) for name in flag.names]
    hint = did_you_mean(engine.table.dashed(use.name), known) or "; check its spelling, or remove it"
    return Finding(use.position, Severity.WARNING, f"{use.name} is not a known flag of {engine.title}{hint}")


def _other_version(name: str, flag: Flag, engine: _Engine) -> str:
    span = flag.span
    if span.is_over(engine.version):
        gone = f"{engine.title} no longer supports {name}"
        since = f" (missing in {_dotted(span.until, engine)})" if span.until else ""
        return f"{gone}{since}; {_remedy(flag, 'remove it')}"
    facts = [f"missing in {_dotted(span.absent, engine)}"] if span.absent else []
    facts += [f"available in {_dotted(span.since, engine)}"] if span.since else []
    before = next((other.name for other in engine.table.flags if other.instead in flag.names), None)
    older = f", or use {before}" if before else ""
    return f"{engine.title} does not support {name} yet ({', '.join(facts)}); use a newer image{older}"


def _dotted(version: Version | None, engine: _Engine) -> str:
    parts = [str(part) for part in version or ()]
    if engine.table.style == LLAMA:
        return f"b{parts[0]}"
    return ".".join([*parts, "0"] if len(parts) == 1 else parts)


def _remedy(flag: Flag, otherwise: str) -> str:
    return f"use {flag.instead}" if flag.instead else otherwise


def _given(use: FlagUse, flag: Flag, form: Form, engine: _Engine) -> Iterator[Finding]:
    """Find what is wrong with the values that a known flag is given, or lacks."""
    negative = engine.table.dashed(use.name) in flag.negatives
    if use.joined and engine.table.style == LLAMA:
        text = use.values[0].text
        reason = f"llama.cpp does not accept {use.name}={text}; write {use.name} and {text} as two arguments"
        yield Finding(use.position, Severity.ERROR, reason)
    elif negative and form.type == SWITCH:
        reason = (
            f"{engine.title} does not support {use.name}: in this version {flag.name} has no negative form; remove it"
        )
        yield Finding(use.position, Severity.ERROR, reason)
    elif negative or not (form.takes_value or use.dotted):
        if use.joined:
            yield Finding(use.position, Severity.ERROR, _no_value(use, use.values[0].text, flag, form))
    elif _is_short(use, form):
        what = "JSON" if use.dotted else expected(form, engine.version)
        yield Finding(use.position, Severity.ERROR, f"{use.name} has no value; add {what}")
    elif not use.dotted:
        for value in use.values:
            wrong = fault(use.name, value.text, form, engine.table, engine.version)
            if wrong:
                yield Finding(value.position, *wrong)


def _is_short(use: FlagUse, form: Form) -> bool:
    least = form.nargs if isinstance(form.nargs, int) else int(form.nargs not in ("?", "*"))
    return len(use.values) < (1 if use.dotted else least)


def _no_value(use: FlagUse, text: str, flag: Flag, form: Form) -> str:
    off = f", or {flag.negatives[0]} to turn it off" if form.type == BOOL and flag.negatives else ""
    return f"{use.name} does not take a value, found {text!r}; write {use.name} by itself{off}"


def _strays(uses: tuple[FlagUse, ...], engine: _Engine) -> Iterator[Finding]:
    """Find arguments that belong to no flag, beyond those that the engine takes: ``serve`` and a model for vLLM."""
    left = engine.table.positionals
    before: FlagUse | None = None
    for use in uses:
        if use.stray and not is_filled_later(use.name) and not (left and use.position == 0 and use.name == "serve"):
            flag = before.flag if before and not before.values else None
            if before and flag and (use.name.lower() in _TRUTH or not left):
                reason = _no_value(before, use.name, flag, flag.at(engine.version))
                yield Finding(use.position, Severity.ERROR, reason)
            elif not left:
                reason = (
                    f"{use.name!r} does not belong to any flag of {engine.title}; put its flag before it, or "
                    "remove it"
                )
                yield Finding(use.position, Severity.ERROR, reason)
            else:
                left -= 1
        before = use


def _repeats(uses: tuple[FlagUse, ...], engine: _Engine) -> Iterator[Finding]:
    """Find flags that are given again: the last one counts, and Rust's clap takes none of them twice."""
    last: dict[str, FlagUse] = {}
    for use in reversed(uses):
        if use.flag is None or use.dotted:
            continue
        form, later = use.flag.at(engine.version), last.setdefault(use.flag.name, use)
        same = not form.takes_value and _is_off(use, engine) == _is_off(later, engine)
        if later is use or form.repeat:
            continue
        if engine.table.style == CLAP:
            reason = f"{later.name} is given twice, but {engine.title} accepts it only once; remove one of the two"
            yield Finding(later.position, Severity.ERROR, reason)
        elif not same:
            reason = f"{use.name} has no effect, because {later.name} comes after it; remove one of the two"
            yield Finding(use.position, Severity.WARNING, reason)


def _is_off(use: FlagUse, engine: _Engine) -> bool:
    return use.flag is not None and engine.table.dashed(use.name) in use.flag.negatives


def _exclusions(uses: tuple[FlagUse, ...]) -> Iterator[Finding]:
    """Find flags that must not be given together."""
    given = {use.flag.name: use for use in uses if use.flag}
    for use in given.values():
        for other in use.flag.excludes if use.flag else ():
            if other in given:
                reason = f"{use.name} and {given[other].name} are mutually exclusive; remove {use.name}"
                yield Finding(use.position, Severity.ERROR, reason)
