"""Checks the arguments of an engine against the flags of the version in its image tag (LLMKube spec 8)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..contract.findings.collector import Findings
from ..contract.findings.ids import RuleId
from ..contract.problems import Hints, Severity
from .command_line import CommandLine
from .flags.rows import BOOL, ENUM, SWITCH, Flag, Form
from .flags.splitting import FlagUse
from .flags.tables import CLAP, LLAMA, EngineFlags
from .flags.values import expected_value, is_filled_later, value_fault
from .settings import Setting
from .versions import ANY, Version, engine_title, format_version

_BOOLEANS = ("true", "false", "on", "off", "yes", "no", "1", "0")


class Finding(NamedTuple):
    """A problem with one argument.

    Attributes:
        position: Index of the argument.
        severity: ``error`` if the engine rejects it, else ``warning``.
    """

    position: int
    severity: Severity
    reason: str
    rule: RuleId

    def relocated(self, skip: int, origins: Sequence[int] | None = None) -> "Finding":
        """Return the finding with its index in the field from which the arguments after ``skip`` were generated."""
        position = self.position - skip
        return self._replace(position=position if origins is None else origins[position])


@dataclass(frozen=True, slots=True)
class _Engine:
    """The engine that parses the arguments.

    Attributes:
        version: Its version; None is the newest.
        title: Its name in messages.
        tag: Its version tag.
        is_complete: Whether the table contains every flag of this version.
    """

    table: EngineFlags
    version: Version | None
    title: str
    tag: str
    is_complete: bool = False
    hints: Hints = field(default_factory=Hints)


def lint(line: CommandLine, skip: int = 0) -> tuple[Finding, ...]:
    """Return the problems of the arguments, in order.

    There are no findings if the engine does not parse the arguments itself, as in a shell, or has no flag table.
    Values that are filled in later, such as ``$(NAME)``, are not checked. A tag without a version, such as ``latest``
    or ``server-cuda13``, counts as the newest version. If the version is unknown, as in custom images, the flags of
    all versions are accepted, and all findings are warnings. An unknown flag is an error if the image is exactly a
    release whose flags are all known, because these engines exit on an unknown flag.

    Args:
        line: The command line.
        skip: Number of leading arguments whose findings are omitted. They are parsed nevertheless, as are flags in
            the command, because other arguments may repeat or contradict them.
    """
    reading = line.reading
    if reading is None:
        return ()
    is_complete = reading.table.is_complete(line.tag, line.started)
    engine = _Engine(reading.table, reading.version, engine_title(line.engine, line.tag), line.tag, is_complete)
    uses = reading.uses
    if uses and uses[0].stray and reading.table.is_subcommand(uses[0].name, line.started):
        uses = uses[1:]
    findings = [*_stray_findings(uses, engine), *_repetitions(reading.uses, engine)]
    findings += _exclusions(reading.uses)
    for use in reading.uses:
        if use.last >= skip and not use.stray:
            findings += _flag_findings(use, engine)
    findings += _transfer_findings(line)
    findings = [finding for finding in findings if finding.position >= skip]
    if reading.version == ANY:
        findings = [finding._replace(severity=Severity.WARNING) for finding in findings]
    return tuple(sorted(findings, key=lambda finding: (finding.position, finding.reason)))


def _transfer_findings(line: CommandLine) -> Iterator[Finding]:
    if not any(line.json_uses(Setting.TRANSFER)):
        return
    # Imported here, because few command lines transfer caches, and the connectors are a table of their own.
    from .pairs.checks import handover_rule, transfer_faults

    for fault in transfer_faults(line):
        yield Finding(fault.position, fault.severity, fault.reason, handover_rule(fault.severity))


def report_findings(
    findings: Findings, path: str, line: CommandLine, *, skip: int = 0, origins: Sequence[int] | None = None
) -> None:
    """Record the problems of arguments from a list field of a resource.

    Args:
        findings: Where to record them.
        path: The field, whose elements are named in messages, as ``spec.extraArgs[3]``.
        line: The whole command line.
        skip: Number of arguments before those of the field.
        origins: Index of the element from which each argument was generated, if the arguments were rewritten.
    """
    record_findings(findings, path, (finding.relocated(skip, origins) for finding in lint(line, skip)))


def record_findings(findings: Findings, path: str, linted: Iterable[Finding]) -> None:
    """Record findings about the elements of a list field."""
    for finding in linted:
        findings.record(f"{path}[{finding.position}]", finding.reason, finding.severity, finding.rule)


def _flag_findings(use: FlagUse, engine: _Engine) -> Iterator[Finding]:
    """Yield the problems of one use of a flag: unknown, of another version, deprecated, or with invalid values."""
    flag, name = use.flag, use.name
    if flag is None:
        spellings = engine.table.names_in(engine.version)
        hint = engine.hints.did_you_mean(engine.table.dashed(name), spellings)
        hint = hint or "; check its spelling, or remove it"
        if engine.is_complete:
            reason = f"{name} is not a known flag of {engine.title}, which does not start with it{hint}"
            yield Finding(use.position, Severity.ERROR, reason, RuleId.FLAGS_UNKNOWN)
        else:
            reason = f"{name} is not a known flag of {engine.title}{hint}"
            yield Finding(use.position, Severity.WARNING, reason, RuleId.FLAGS_UNKNOWN)
        return

    span, remedy = flag.span, _remedy(flag, engine)
    spelling = flag.span_of(engine.table.dashed(name))
    if span.includes(engine.version) and not spelling.includes(engine.version):
        # The flag exists, but this spelling of it does not.
        span = spelling
        remedy = _other_spelling(flag, engine.table.dashed(name), engine)
    if span.is_after(engine.version):
        ended = span.ended(engine.version) if engine.version else span.until
        since = f" (missing in {_spelled(ended, engine)})" if ended else ""
        reason = f"{engine.title} no longer supports {name}{since}; {remedy}"
        yield Finding(use.position, Severity.ERROR, reason, RuleId.FLAGS_UNSUPPORTED)
    elif span.is_before(engine.version):
        bounds = [f"missing in {_spelled(span.absent, engine)}"] if span.absent else []
        bounds += [f"available in {_spelled(span.since, engine)}"] if span.since else []
        predecessor = next((other.name for other in engine.table.flags if other.instead in flag.names), None)
        alternative = f", or use {predecessor}" if predecessor else ""
        if span is spelling and span is not flag.span:
            alternative = f", or {remedy}"
        newer = (
            f"an image of {engine.table.engine.release_tag(span.since, engine.tag)} or later" if span.since else ""
        )
        step = f"use {newer or 'a newer image'}{alternative}"
        reason = f"{engine.title} does not support {name} yet ({', '.join(bounds)}); {step}"
        yield Finding(use.position, Severity.ERROR, reason, RuleId.FLAGS_UNSUPPORTED)
    else:
        if span.is_deprecated(engine.version):
            reason = f"{name} is deprecated in {engine.title}; {remedy}"
            yield Finding(use.position, Severity.WARNING, reason, RuleId.FLAGS_DEPRECATED)
        yield from _value_findings(use, flag, flag.form_in(engine.version), engine)


def _remedy(flag: Flag, engine: _Engine) -> str:
    """Return what to do without a flag: its replacement has to exist in the version too, and to accept the value."""
    if flag.instead is None or flag.replacement is None:
        return "remove it"
    heir = engine.table.find(flag.replacement, engine.version)
    if heir is None or not heir.span.includes(engine.version):
        return "remove it"
    form, value = heir.form_in(engine.version), flag.instead.partition(" ")[2]
    is_refused = value and form.type == ENUM and value not in form.allowed(engine.version)
    return "remove it" if is_refused else f"use {flag.instead}"


def _other_spelling(flag: Flag, name: str, engine: _Engine) -> str:
    """Return what to do without a spelling that the version lacks."""
    accepted = [
        other for other in flag.names_in(engine.version) if (other in flag.negatives) == (name in flag.negatives)
    ]
    may_negate = name not in flag.negatives or flag.form_in(engine.version).type == BOOL
    return f"write {accepted[0]}" if accepted and may_negate else "remove it"


def _spelled(version: Version, engine: _Engine) -> str:
    return format_version(version, builds=engine.table.engine.builds)


def _value_findings(use: FlagUse, flag: Flag, form: Form, engine: _Engine) -> Iterator[Finding]:
    """Yield the problems of the values of a known flag, including missing ones."""
    is_negative = engine.table.dashed(use.name) in flag.negatives
    required = 1 if use.dotted else form.nargs if isinstance(form.nargs, int) else int(form.nargs not in ("?", "*"))
    if use.joined and engine.table.style == LLAMA:
        text = use.values[0].text
        reason = f"llama.cpp does not accept {use.name}={text}; write {use.name} and {text} as two arguments"
        yield _malformed(use.position, reason)
    elif is_negative and form.type == SWITCH:
        reason = (
            f"{engine.title} does not support {use.name}: in this version {flag.name} has no negative form; remove it"
        )
        yield Finding(use.position, Severity.ERROR, reason, RuleId.FLAGS_UNSUPPORTED)
    elif is_negative or not (form.takes_value or use.dotted):
        if use.joined:
            yield _malformed(use.position, _superfluous_value(use, use.values[0].text, flag, form))
    elif len(use.values) < required:
        expected = "JSON" if use.dotted else expected_value(form, engine.version)
        yield _malformed(use.position, f"{use.name} has no value; add {expected}")
    elif not use.dotted:
        for value in use.values:
            fault = value_fault(use.name, value.text, form, engine.table, engine.version)
            if fault:
                yield Finding(value.position, *fault)


def _malformed(position: int, reason: str) -> Finding:
    return Finding(position, Severity.ERROR, reason, RuleId.FLAGS_MALFORMED)


def _superfluous_value(use: FlagUse, text: str, flag: Flag, form: Form) -> str:
    off = f", or {flag.negatives[0]} to turn it off" if form.type == BOOL and flag.negatives else ""
    return f"{use.name} does not take a value, found {text!r}; write {use.name} by itself{off}"


def _stray_findings(uses: tuple[FlagUse, ...], engine: _Engine) -> Iterator[Finding]:
    """Yield arguments that belong to no flag, except the positional ones: ``serve`` and a model for vLLM."""
    remaining = engine.table.positionals
    before: FlagUse | None = None
    for use in uses:
        if use.stray and not is_filled_later(use.name):
            name, _, value = use.name.partition(" ")
            if value.strip() and engine.table.find(name):
                reason = f"{use.name!r} is one argument; write {name} and {value.strip()} as two arguments"
                yield _malformed(use.position, reason)
                before = use
                continue
            flag = before.flag if before and not before.values else None
            if before and flag and (use.name.lower() in _BOOLEANS or not remaining):
                reason = _superfluous_value(before, use.name, flag, flag.form_in(engine.version))
                yield _malformed(use.position, reason)
            elif not remaining:
                reason = (
                    f"{use.name!r} does not belong to any flag of {engine.title}; put its flag before it, or "
                    "remove it"
                )
                yield _malformed(use.position, reason)
            else:
                remaining -= 1
        before = use


def _repetitions(uses: tuple[FlagUse, ...], engine: _Engine) -> Iterator[Finding]:
    """Yield repeated flags: in most engines the last one takes effect, but Rust's clap rejects repetitions."""

    def is_off(use: FlagUse) -> bool:
        return use.flag is not None and engine.table.dashed(use.name) in use.flag.negatives

    last: dict[str, FlagUse] = {}
    for use in reversed(uses):
        if use.flag is None or use.dotted:
            continue
        form, later = use.flag.form_in(engine.version), last.setdefault(use.flag.name, use)
        if later is use or form.repeat:
            continue
        if engine.table.style == CLAP:
            reason = f"{later.name} is given twice, but {engine.title} accepts it only once; remove one of the two"
            yield Finding(later.position, Severity.ERROR, reason, RuleId.FLAGS_EXCLUSIVE)
        elif form.takes_value or is_off(use) != is_off(later):
            reason = f"{use.name} has no effect, because {later.name} comes after it; remove one of the two"
            yield Finding(use.position, Severity.WARNING, reason, RuleId.FLAGS_REPEATED)


def _exclusions(uses: tuple[FlagUse, ...]) -> Iterator[Finding]:
    """Yield mutually exclusive flags."""
    flags = {use.flag.name: use for use in uses if use.flag}
    for use in flags.values():
        for other in use.flag.excludes if use.flag else ():
            if other in flags:
                reason = f"{use.name} and {flags[other].name} are mutually exclusive; remove {use.name}"
                yield Finding(use.position, Severity.ERROR, reason, RuleId.FLAGS_EXCLUSIVE)
