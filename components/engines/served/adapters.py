"""LoRA adapters in the command line of a server."""

import json
from collections.abc import Iterator, Mapping

from ...contract.problems import Severity
from ..command_line import CommandLine
from ..flags.splitting import FlagUse
from ..flags.values import json_object
from ..registry import Engine
from ..scripts.commands import engine_line
from ..settings import Setting
from .names import served_names
from .rows import AdapterSyntax, ServedNames, served_names_table


def with_adapters(engine: Engine, line: CommandLine, adapters: Mapping[str, str]) -> CommandLine:
    """Return a line with additional adapters.

    Existing adapters of the same name are kept. Nothing is added if another program parses the arguments, if the
    engine's syntax for adapters is unknown, or if the user turned adapters off.

    Args:
        engine: The engine.
        line: The command line of the container.
        adapters: The path of each adapter, by name.
    """
    if not adapters:
        return line
    known, flag = served_names_table(engine.name), engine.flag(Setting.ADAPTERS)
    present = {name for name, _ in adapters_of(line)}
    missing = {name: path for name, path in adapters.items() if name not in present}
    if known is None or flag is None or line.reading is None or not missing or _is_off(line):
        return line
    syntax = known.adapter_syntax(engine.version(line.tag))
    values = [_format(syntax, name, path) for name, path in missing.items()]
    for switch in (engine.flag(Setting.ADAPTERS_ON), *syntax.needs):
        row = line.reading.table.find(switch) if switch and line.reading else None
        if switch and row and line.reading and row.span.includes(line.reading.version) and not line.holds(switch):
            line = line.followed_by(line.continued((switch,)))
    uses = _uses(line, known)
    if not uses:
        return line.followed_by(line.continued((flag, *values)))

    # The values are appended to those of the last use; another use of the flag would replace them.
    use, words, start = uses[-1], list(line.words), len(line.command)
    first, last = start + use.position, start + use.last
    words[last + 1 : last + 1] = values
    if use.joined:
        words[first : first + 1] = words[first].split("=", 1)
    start += len(words) - len(line.words) if last < start else 0
    return CommandLine(line.engine, line.tag, words[start:], words[:start])


def adapters_of(line: CommandLine) -> tuple[tuple[str, str], ...]:
    """Return the names and paths of the adapters in a line, in order."""
    known, own = served_names_table(line.engine), engine_line(line)
    if known is None or own is None:
        return ()
    uses = _uses(own, known)
    if not uses:
        return ()
    syntax, words, start = known.adapter_syntax(known.engine.version(line.tag)), own.words, len(own.command)
    last = uses[-1]  # it replaces the values of earlier uses
    texts = (words[start + value.position] for value in last.values)
    adapters = (_parse(syntax, text.partition("=")[2] if last.joined else text) for text in texts)
    return tuple((name, path) for name, path in adapters if name)


def adapter_model_name(line: CommandLine, adapter: str) -> str:
    """Return the model name in requests for an adapter; empty if requests have a separate field for it."""
    known, names = served_names_table(line.engine), served_names(line)
    if known is None:
        return ""
    syntax = known.adapter_syntax(known.engine.version(line.tag))
    return syntax.requested.replace("<adapter>", adapter).replace("<model>", names[0] if names else "")


def adapter_problems(line: CommandLine) -> Iterator[tuple[Severity, str]]:
    """Yield the problems of the adapters in a line."""
    known, adapters = served_names_table(line.engine), adapters_of(line)
    if known is None or not adapters:
        return
    names, served = [name for name, _ in adapters], served_names(line)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Severity.ERROR, f"two adapters have the name {name!r}; rename one"
    for name in sorted(set(names).intersection(served)):
        reason = f"the adapter {name!r} has the name of the model, which answers its requests; rename the adapter"
        yield Severity.ERROR, reason
    if _is_off(engine_line(line) or line):
        flag = known.engine.flag(Setting.ADAPTERS_ON)
        yield Severity.ERROR, f"{len(adapters)} adapters are set, but {flag} is turned off; remove its negative form"
    syntax = known.adapter_syntax(known.engine.version(line.tag))
    most = (engine_line(line) or line).number_of(syntax.most) if syntax.most else None
    if most is not None and len(adapters) > most:
        yield Severity.ERROR, f"{syntax.most} is {most}, but there are {len(adapters)} adapters; raise it"


def _parse(syntax: AdapterSyntax, text: str) -> tuple[str, str]:
    """Parse an adapter as the engine does: the path is the default name; both are empty if the engine rejects it."""
    if syntax.takes_for_json(text):
        document = json_object(text) or {}
        name, path = (document.get(syntax.json[key]) for key in ("name", "path"))
        return str(name or ""), str(path or "")
    name, joint, path = text.partition("=")
    if set(syntax.unsafe) & set(path):
        return "", ""
    return (name, path) if joint else (text, text)


def _format(syntax: AdapterSyntax, name: str, path: str) -> str:
    """Format an adapter as name=path, or as JSON if the engine would parse that differently."""
    text = f"{name}={path}"
    if not syntax.json or _parse(syntax, text) == (name, path):
        return text
    return json.dumps(
        {syntax.json["name"]: name, syntax.json["path"]: path}, separators=(",", ":"), ensure_ascii=False
    )


def _uses(line: CommandLine, known: ServedNames) -> list[FlagUse]:
    reading = line.reading
    return list(reading.uses_of(known.engine.settings[Setting.ADAPTERS], off=False)) if reading else []


def _is_off(line: CommandLine) -> bool:
    reading, known = line.reading, served_names_table(line.engine)
    if reading is None or known is None:
        return False
    uses = list(reading.uses_of(known.engine.settings.get(Setting.ADAPTERS_ON, ()), off=True))
    return bool(uses) and uses[-1].flag is not None and reading.table.dashed(uses[-1].name) in uses[-1].flag.negatives
