"""The flags and architectures of llama.cpp's server, and the builds that have them.

A version of llama.cpp is a build, the number of commits before it (``cmake/build-info.cmake``). Nothing but
``common_params_parser_init`` in ``common/arg.cpp`` registers flags, each by ``add_opt(common_arg({spellings}, ...,
handler)...)``. ``src/llama-arch.cpp`` names the architectures of files, and ``convert_hf_to_gguf.py`` and the modules
of ``conversion`` the one that a model with an architecture of the Transformers library is converted to.
"""

import ast
import json
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .history import holds, span_of

SOURCE = "common/arg.cpp"
OLDEST = 4441
"""The first build whose flags are in the table: b4719 of the images' old address is later."""
Table = dict[str, Any]
Spellings = dict[str, str]
"""What a build accepts: by spelling, ``switch``, or the type of the value that its handler takes."""

_COMMENT_OR_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL
)
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')
_OPTION = re.compile(r"\badd_opt\(\s*(?:common_arg|llama_arg)\(")
_LAMBDA = re.compile(r"\[\]\s*\(([^()]*)\)\s*\{\s*(throw\b|arg_removed\b)?")
_EXAMPLES = re.compile(r"\.set_(examples|excludes)\(")
_ARCHITECTURES, _CONSTANTS = "src/llama-arch.cpp", "gguf-py/gguf/constants.py"
_CONVERSIONS = ("convert_hf_to_gguf.py", "conversion")
_KNOWN = re.compile(r'\{\s*LLM_ARCH_\w+\s*,\s*"([^"]+)"\s*\}')
_NAMES = re.compile(r'MODEL_ARCH\.(\w+)\s*:\s*"([^"]+)"')
_EVERY, _SERVER = "LLAMA_EXAMPLE_COMMON", "LLAMA_EXAMPLE_SERVER"


def spellings_of(source: str) -> Spellings:
    """Return the spellings that the server accepts, without those that it only names to refuse them.

    Args:
        source: The text of ``common/arg.cpp``.
    """
    code = _COMMENT_OR_TEXT.sub(lambda match: " " if match[0].startswith("/") else match[0], source)
    lists = dict(re.findall(r"std::initializer_list<enum llama_example> (\w+) = \{([^}]*)\}", code))
    accepted: Spellings = {}
    for match in _OPTION.finditer(code):
        arguments, end = _arguments(code, match.end())
        settings = {}
        for setting in _EXAMPLES.finditer(code[end : end + 400].partition(";")[0]):
            text = code[end + setting.end() :].partition(")")[0]
            settings[setting[1]] = lists.get(text.strip(), text)
        examples = settings.get("examples", _EVERY)
        handler = _LAMBDA.match(arguments[-1].strip())
        serves = re.search(rf"\b(?:{_EVERY}|{_SERVER})\b", examples) and _SERVER not in settings.get("excludes", "")
        is_preset = ".set_preset_only(" in code[end : end + 400].partition(";")[0]
        # Flags that are gone are registered for a while with a handler that names what took their place.
        if not serves or is_preset or handler is None or handler[2]:
            continue
        kind = _kind(handler[1])
        for group in arguments[:2]:
            if group.strip().startswith("{"):
                accepted |= dict.fromkeys(_TEXT.findall(group), kind)
    return accepted


def _kind(parameters: str) -> str:
    """Return what a handler takes after ``common_params &``."""
    _, *values = parameters.split(",")
    if not values or "bool" in values[0]:
        return "switch"
    return "int" if re.match(r"\s*int\b", values[0]) else "string" if len(values) == 1 else "two strings"


def _arguments(code: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a call, and where it ends."""
    arguments: list[str] = []
    depth, at, begin = 0, start, start
    while True:
        match = _COMMENT_OR_TEXT.match(code, at)
        if match:
            at = match.end()
            continue
        letter = code[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            if depth == 0:
                return [*arguments, code[begin:at]], at + 1
            depth -= 1
        elif letter == "," and depth == 0:
            arguments.append(code[begin:at])
            begin = at + 1
        at += 1


def sources_of(folder: Path, build: int) -> Iterator[tuple[int, str]]:
    """Yield the builds that a folder has, up to one, each with the text of its ``common/arg.cpp``.

    Args:
        folder: The unpacked sources of this build, a folder with its source distribution, or a Git repository with
            every build before: of these, the ones that change the file.
        build: The build.
    """
    if folder.joinpath(SOURCE).is_file():
        yield build, folder.joinpath(SOURCE).read_text(encoding="utf-8")
        return
    for archive in folder.glob(f"*-{build}.*.tar.gz"):
        with tarfile.open(archive) as files:
            text = files.extractfile(next(name for name in files.getnames() if name.endswith(f"/{SOURCE}")))
            if text is not None:
                yield build, text.read().decode()
        return

    for commit in _git(folder, "rev-list", "--first-parent", "--reverse", "HEAD", "--", SOURCE).split():
        number = int(_git(folder, "rev-list", "--count", commit))
        if number <= build:
            yield number, _git(folder, "show", f"{commit}:{SOURCE}")


def architectures_of(folder: Path, build: int) -> dict[str, int]:
    """Return the first build that may run each architecture of the Transformers library.

    That is the first one which knows an architecture that the model was ever converted to: an older one runs no file
    of it. 0 stands for builds before the oldest one of the table.

    Args:
        folder: A Git repository with every build.
        build: The last build.
    """
    first: dict[str, int] = {}
    for number, commit in _commits(folder, build, _ARCHITECTURES):
        for name in _KNOWN.findall(_git(folder, "show", f"{commit}:{_ARCHITECTURES}")):
            first.setdefault(name, 0 if number <= OLDEST else number)
    names: dict[str, str] = {}
    for _, commit in _commits(folder, build, _CONSTANTS):
        names |= dict(_NAMES.findall(_git(folder, "show", f"{commit}:{_CONSTANTS}")))

    converted: dict[str, set[str]] = {}
    read: dict[str, list[ConvertedClass]] = {}
    for _, commit in _commits(folder, build, *_CONVERSIONS):
        classes: list[ConvertedClass] = []
        # Most files of a commit are those of the one before.
        for line in _git(folder, "ls-tree", "-r", commit, "--", *_CONVERSIONS).splitlines():
            digest, path = line.split()[2:4]
            if path.endswith(".py"):
                if digest not in read:
                    read[digest] = converted_classes(_git(folder, "cat-file", "blob", digest))
                classes += read[digest]
        for architecture, constants in conversions_of(classes).items():
            converted.setdefault(architecture, set()).update(names[each] for each in constants if each in names)
    known = {
        architecture: [first[name] for name in found if name in first] for architecture, found in converted.items()
    }
    return {architecture: min(builds) for architecture, builds in known.items() if builds}


class ConvertedClass(NamedTuple):
    """A class that converts models.

    Attributes:
        constant: The constant of the architecture of files; empty for that of a base class.
        registered: The architectures that it converts.
    """

    name: str
    bases: tuple[str, ...]
    constant: str
    registered: tuple[str, ...]


def converted_classes(text: str) -> list[ConvertedClass]:
    """Return the classes of a module that converts models."""
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef):
            continue
        constant = ""
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id="model_arch")], value=ast.Attribute(attr=attribute)):
                    constant = attribute
        registered: list[str] = []
        for decorator in node.decorator_list:
            match decorator:
                case ast.Call(func=ast.Attribute(attr="register"), args=arguments):
                    registered += [str(each.value) for each in arguments if isinstance(each, ast.Constant)]
        bases = tuple(base.id for base in node.bases if isinstance(base, ast.Name))
        found.append(ConvertedClass(node.name, bases, constant, tuple(registered)))
    return found


def conversions_of(classes: Iterable[ConvertedClass]) -> dict[str, set[str]]:
    """Return the constants of the architectures of files, by the registered architecture of a model."""
    by_name = {each.name: each for each in classes}

    def constant(name: str) -> str:
        known = by_name.get(name)
        if known is None:
            return ""
        return known.constant or next(filter(None, map(constant, known.bases)), "")

    found: dict[str, set[str]] = {}
    for each in by_name.values():
        for architecture in each.registered:
            found.setdefault(architecture, set()).add(constant(each.name))
    return {architecture: constants - {"", "MMPROJ"} for architecture, constants in found.items()}


def _commits(folder: Path, build: int, *paths: str) -> Iterator[tuple[int, str]]:
    """Yield the commits that change some files, from the one of the oldest build on, each with its build."""
    every = _git(folder, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    # Commits that were merged beside the first parents count as well; there are none after the oldest build.
    beside = int(_git(folder, "rev-list", "--count", "HEAD")) - len(every)
    builds = {commit: number for number, commit in enumerate(every, 1 + beside)}
    oldest = next(commit for commit, number in builds.items() if number == OLDEST)
    changing = _git(folder, "rev-list", "--first-parent", "--reverse", f"{oldest}..HEAD", "--", *paths).split()
    for commit in (oldest, *changing):
        if builds[commit] <= build:
            yield builds[commit], commit


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout


def with_builds(table: Table, first: int, last: int, states: Mapping[int, Spellings]) -> Table:
    """Return a table with a range of builds.

    Args:
        table: The table: ``builds``, the first and the last one of each range, and ``spellings``.
        first: First build of the range.
        last: Its last build.
        states: What is accepted from each build on, up to the next one; the first of them is not after ``first``.
    """
    known: dict[int, set[str]] = {}
    for start, end in table["builds"]:
        bounds = {bound for row in table["spellings"].values() for bound in _bounds(row) if start < bound <= end}
        for build in {start, end, *bounds, *(bound - 1 for bound in bounds)}:
            if not first <= build <= last:
                known[build] = {name for name, row in table["spellings"].items() if holds(_texts(row), str(build))}
    starts = [build for build in sorted(states) if build <= last]
    for start, following in zip(starts, [*starts[1:], last + 1], strict=True):
        if following > first:
            known[max(start, first)] = known[following - 1] = {*states[start]}

    builds = [str(build) for build in sorted(known)]
    spellings = {}
    for name in sorted(set().union(*known.values()), key=lambda name: (name.lstrip("-"), name)):
        row = span_of(builds, [build for build in builds if name in known[int(build)]])
        lacking = builds[builds.index(row["from"]) - 1] if "from" in row else ""
        if lacking and int(lacking) < int(row["from"]) - 1:
            row["absent"] = lacking
        spellings[name] = {
            column: [[[int(edge)] for edge in gap] for gap in row[column]] if column == "gaps" else [int(row[column])]
            for column in row
        }
    ranges: list[list[int]] = []
    for start, end in sorted([*table["builds"], [first, last]]):
        if ranges and start <= ranges[-1][1] + 1:
            ranges[-1][1] = max(end, ranges[-1][1])
        else:
            ranges.append([start, end])
    return {"builds": ranges, "spellings": spellings}


def written(table: Table) -> str:
    """Return the text of a table: a line for each spelling."""
    spellings = [f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in table["spellings"].items()]
    head = f'{{\n  "builds": {json.dumps(table["builds"])},\n  "spellings": {{\n'
    return head + ",\n".join(spellings) + "\n  }\n}\n"


def _bounds(row: Table) -> set[int]:
    """Return the builds where a spelling comes or goes."""
    edges = [edge[0] for gap in row.get("gaps", ()) for edge in gap]
    return {*edges, *(row[column][0] for column in ("from", "until") if column in row)}


def _texts(row: Table) -> Table:
    """Return a span with builds as texts, as those of releases are."""
    return {
        column: [[str(edge[0]) for edge in gap] for gap in bound] if column == "gaps" else str(bound[0])
        for column, bound in row.items()
    }
