"""Releases are added to the tables of parsers from their sources alone, and stay in them exactly."""

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from extract_flags import READERS, main
from extraction.history import Parser, digest, order, parser_in, parser_of, rows_of
from extraction.sglang import SglangReader
from extraction.sources import PackageSources
from extraction.vllm import VllmReader
from hypothesis import given
from hypothesis import strategies as st

from components.engines.flags.rows import Flag, Form
from components.engines.flags.tables import EngineFlags, read_flags
from components.engines.registry import engines
from components.engines.versions import version_of

CONFIG = """\
from typing import Any, Literal
from pydantic import Field
from vllm.config.utils import config

Tail = Literal["half"]
DType = Literal["auto", Tail]

@config
class ModelConfig:
    dtype: DType = "auto"
    enforce_eager: bool = False
    max_model_len: int = Field(default=None, ge=-1)
    seed: int | None = None
    tensor_parallel_size: int = Field(default=1, ge=1)
    overrides: dict[str, Any] | None = None
"""
ENGINE = """\
import argparse
from vllm.config.model import ModelConfig

def _compute_kwargs(cls):
    for field in fields(cls):
        if name == "max_model_len":
            kwargs[name]["type"] = human_readable_int_or_auto

class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        kwargs = get_kwargs(ModelConfig)
        group = parser.add_argument_group(title="ModelConfig")
        group.add_argument("--dtype", **kwargs["dtype"])
        group.add_argument("--enforce-eager", **kwargs["enforce_eager"])
        group.add_argument("--max-model-len", **{**kwargs["max_model_len"], "default": None})
        group.add_argument("--seed", **kwargs["seed"])
        group.add_argument("--tensor-parallel-size", "-tp", **kwargs["tensor_parallel_size"])
        return parser

class AsyncEngineArgs(EngineArgs):
    @staticmethod
    def add_cli_args(parser, async_args_only=False):
        if not async_args_only:
            parser = EngineArgs.add_cli_args(parser)
        return parser
"""
FRONT = """\
from vllm.config.utils import config
from vllm.engine.arg_utils import AsyncEngineArgs

@config
class FrontendArgs:
    port: int = 8000

    @classmethod
    def _customize_cli_kwargs(cls, frontend_kwargs):
        return frontend_kwargs

    @classmethod
    def add_cli_args(cls, parser):
        frontend_kwargs = get_kwargs(cls)
        frontend_kwargs = cls._customize_cli_kwargs(frontend_kwargs)
        for key, value in frontend_kwargs.items():
            parser.add_argument(f"--{key.replace('_', '-')}", **value)
        return parser

def make_arg_parser(parser):
    parser.add_argument("model_tag", nargs="?")
    parser = FrontendArgs.add_cli_args(parser)
    parser = AsyncEngineArgs.add_cli_args(parser)
    return parser
"""
SEED = '        group.add_argument("--seed", **kwargs["seed"])\n'

TENSORS = '        group.add_argument("--tensor-parallel-size", "-tp", **kwargs["tensor_parallel_size"])\n'
HEAD = "style: argparse\nunderscores: true\nflags:\n"

Run = Callable[..., tuple[int, str, Any]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command on a release of vLLM; it returns the exit code, output and table."""
    table = tmp_path / "parsers.json"
    table.write_text('{"releases": {}, "flags": {}}')

    def command(version: str, *options: str, config: str = CONFIG, engine: str = ENGINE) -> tuple[int, str, Any]:
        write(tmp_path, "vllm", {"config/model": config, "engine/arg_utils": engine, "entrypoints/cli_args": FRONT})
        code = main(["vllm", version, str(tmp_path), "--table", str(table), *options])
        return code, capsys.readouterr().out, json.loads(table.read_text())

    return command


def write(folder: Path, package: str, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        path = folder / package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_first_release_has_flags_without_spans(run: Run) -> None:
    code, output, table = run("0.1.0")
    assert code == 0
    assert "--seed: new, int\n" in output
    assert list(table["releases"]) == ["0.1.0"]
    assert table["flags"] == {
        "--dtype": {"type": "enum", "values": ["auto", "half"]},
        "--enforce-eager": {"type": "bool"},
        "--max-model-len": {"type": "human", "words": ["auto"], "min": -1},
        "--port": {"type": "int"},
        "--seed": {"type": "int"},
        "--tensor-parallel-size": {"type": "int", "min": 1, "alias": ["-tp"]},
    }


def test_a_release_without_changes_adds_its_name(run: Run) -> None:
    _, _, before = run("0.1.0")
    code, output, after = run("0.2.0")
    assert (code, output) == (0, "")
    assert after["flags"] == before["flags"]
    assert after["releases"] == dict.fromkeys(["0.1.0", "0.2.0"], before["releases"]["0.1.0"])


def test_flags_come_and_go(run: Run) -> None:
    run("0.1.0")
    new = ENGINE.replace(SEED, '        group.add_argument("--overrides", "-o", **kwargs["overrides"])\n')
    code, output, table = run("0.2.0", engine=new)
    assert (code, output) == (0, "--overrides: new, json\n--seed: gone\n")
    assert table["flags"]["--overrides"] == {"type": "json", "alias": ["-o"], "from": "0.2.0"}
    assert table["flags"]["--seed"] == {"type": "int", "until": "0.2.0"}
    # One that returns has a gap.
    _, _, table = run("0.3.0")
    assert table["flags"]["--seed"] == {"type": "int", "gaps": [["0.2.0", "0.3.0"]]}
    assert table["flags"]["--overrides"] == {"type": "json", "alias": ["-o"], "from": "0.2.0", "until": "0.3.0"}
    seed = flag_of(table, "--seed")
    assert [seed.span.includes((0, minor)) for minor in (1, 2, 3)] == [True, False, True]


def test_a_changed_type_moves_the_old_one_to_earlier(run: Run) -> None:
    run("0.1.0")
    _, output, table = run("0.2.0", config=CONFIG.replace("seed: int | None", "seed: str | None"))
    assert output == '--seed: type was "int", is "string"\n'
    assert table["flags"]["--seed"] == {"type": "string", "earlier": [{"last": "0.1.0", "type": "int"}]}
    assert [flag_of(table, "--seed").form_in((0, minor)).type for minor in (1, 2)] == ["int", "string"]


def test_values_come_and_go(run: Run) -> None:
    run("0.1.0")
    _, output, table = run("0.2.0", config=CONFIG.replace('"auto", Tail', '"auto", "full"'))
    assert output == "--dtype: values gone half and new full\n"
    assert table["flags"]["--dtype"]["values"] == [
        "auto",
        {"value": "full", "from": "0.2.0"},
        {"value": "half", "until": "0.2.0"},
    ]


def test_spellings_come_and_go(run: Run) -> None:
    run("0.1.0")
    _, output, table = run("0.2.0", engine=ENGINE.replace('"-tp"', '"-tps"'))
    assert output == "--tensor-parallel-size: alias gone -tp and new -tps\n"
    alias = [{"value": "-tps", "from": "0.2.0"}, {"value": "-tp", "until": "0.2.0"}]
    assert table["flags"]["--tensor-parallel-size"] == {"type": "int", "min": 1, "alias": alias}
    flag = flag_of(table, "-tp")
    assert [flag.names_in((0, minor)) for minor in (1, 2)] == [(flag.name, "-tp"), (flag.name, "-tps")]


def test_a_release_between_others_is_added_in_its_place(run: Run) -> None:
    run("0.1.0")
    run("0.3.0", engine=ENGINE.replace(TENSORS, ""))
    _, _, table = run("0.2.0.post1", engine=ENGINE.replace(TENSORS, ""))
    assert list(table["releases"]) == ["0.1.0", "0.2.0.post1", "0.3.0"]
    assert table["flags"]["--tensor-parallel-size"]["until"] == "0.2.0.post1"


def test_a_listed_release_is_read_again(run: Run) -> None:
    _, _, first = run("0.1.0")
    _, _, wrong = run("0.1.0", engine=ENGINE.replace(SEED, ""))
    assert "--seed" not in wrong["flags"]
    assert run("0.1.0")[2] == first


def test_a_check_changes_nothing(run: Run) -> None:
    _, _, table = run("0.1.0")
    assert run("0.1.0", "--check") == (0, "", table)
    assert run("0.1.0", "--check", engine=ENGINE.replace(SEED, "")) == (1, "--seed: gone\n", table)
    assert run("0.2.0", "--check") == (1, "", table)


def test_choices_of_code_that_runs_are_named(run: Run) -> None:
    engine = ENGINE.replace('"--dtype", **kwargs["dtype"]', '"--dtype", choices=plugins.dtypes()')
    _, output, table = run("0.1.0", engine=engine)
    assert "not readable: vllm/engine/arg_utils.py:14: --dtype: choices plugins.dtypes()\n" in output
    assert table["flags"]["--dtype"] == {"type": "string", "unread": True}


@pytest.mark.parametrize(
    "statement",
    [
        "for name in plugins.names():\n            group.add_argument(name, type=int)",
        "try:\n            group.add_argument(name(), type=int)\n        except ValueError:\n            pass",
        "missing(parser)",
    ],
)
def test_a_release_with_a_flag_that_cannot_be_read_is_not_added(run: Run, statement: str) -> None:
    _, _, before = run("0.1.0")
    code, output, after = run("0.2.0", engine=ENGINE.replace(SEED, f"        {statement}\n"))
    assert (code, after) == (1, before)
    assert "0.2.0 is not added" in output
    assert "--seed: gone" not in output  # it may be the one that could not be read


def test_functions_that_take_the_parser_are_followed(run: Run) -> None:
    _, _, table = run("0.1.0")
    helper = "def add_seed(parser):\n    parser.add_argument('--seed', type=int)\n"
    assert run("0.1.0", "--check", engine=ENGINE.replace(SEED, "        add_seed(parser)\n") + helper) == (
        0,
        "",
        table,
    )


def test_a_loop_over_names_and_types_is_followed(run: Run) -> None:
    loop = """        for arg, type in [("--old", str), ("--older", int)]:
            group.add_argument(arg, type=type, deprecated=True)
"""
    _, _, table = run("0.1.0", engine=ENGINE.replace(SEED, loop))
    assert table["flags"]["--old"] == {"type": "string", "deprecated": "0.1.0"}
    assert table["flags"]["--older"] == {"type": "int", "deprecated": "0.1.0"}


@pytest.mark.parametrize("version", ["main", "v0.3", "3"])
def test_only_versions_of_releases_are_read(run: Run, version: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        run(version)
    assert exit_.value.code == 2


def test_a_folder_without_the_package_is_refused(tmp_path: Path) -> None:
    for engine in ("vllm", "sglang"):
        with pytest.raises(SystemExit, match="is this the folder"):
            main([engine, "0.3.0", str(tmp_path)])


def test_a_release_is_downloaded_by_one_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command of docs/architecture.md, with a folder of wheels as the registry."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "vllm-0.3.0-py3-none-any.whl", "w") as wheel:
        for name, text in {"config/model": CONFIG, "engine/arg_utils": ENGINE, "entrypoints/cli_args": FRONT}.items():
            wheel.writestr(f"vllm/{name}.py", text)
        info = "vllm-0.3.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: vllm\nVersion: 0.3.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    table = tmp_path / "parsers.json"
    table.write_text('{"releases": {}, "flags": {}}')
    assert main(["vllm", "0.3.0", "--table", str(table)]) == 0
    assert list(json.loads(table.read_text())["releases"]) == ["0.3.0"]


def flag_of(table: Any, name: str) -> Flag:
    flag = read_flags(engines()["vllm"], HEAD, json.dumps(table)).find(name)
    assert flag is not None
    return flag


ROWS = st.fixed_dictionaries(
    {"type": st.sampled_from(["int", "string", "enum"])},
    optional={
        "nargs": st.just("+"),
        "alias": st.lists(st.sampled_from(["-x", "-y", "-z"]), min_size=1, unique=True),
    },
).map(lambda row: row | ({"values": ["a"]} if row["type"] == "enum" else {}))


@given(st.lists(st.dictionaries(st.sampled_from(["--a", "--b", "--c"]), ROWS, max_size=3), min_size=1, max_size=6))
def test_rows_state_the_parser_of_each_release(parsers: list[Parser]) -> None:
    unique = [{name: row for name, row in parser.items() if not _shares(name, parser)} for parser in parsers]
    releases = {f"0.{minor}": parser for minor, parser in enumerate(unique)}
    rows = rows_of(releases)
    assert {release: digest(parser_in(rows, release)) for release in releases} == {
        release: digest(parser) for release, parser in releases.items()
    }


def _shares(name: str, parser: Parser) -> bool:
    """Return whether a flag has an alias that an earlier flag has too, which no parser accepts."""
    others = {alias for other, row in parser.items() if other < name for alias in row.get("alias", ())}
    return not others.isdisjoint(parser[name].get("alias", ()))


SHIPPED = {
    engine: json.loads(engines()[engine].folder.joinpath("parsers.json").read_text()) for engine in ("vllm", "sglang")
}
RELEASES = [(engine, release) for engine, table in SHIPPED.items() for release in table["releases"]]
PACKAGES = "ENGINE_PACKAGES"
"""Variable with a folder that contains the packages as ``vllm/0.34.0/vllm`` and ``sglang/0.5.23/sglang``."""


@pytest.mark.parametrize(("engine", "release"), RELEASES)
def test_the_table_of_a_release_is_the_parser_in_its_package(engine: str, release: str) -> None:
    """The digest is that of the parser as it was read from the package, and the table is read as plans read it."""
    table = read_flags(engines()[engine], HEAD.replace("argparse", "llama"), json.dumps(SHIPPED[engine]))
    assert digest(accepted_by(table, release)) == SHIPPED[engine]["releases"][release]
    folder = Path(os.environ.get(PACKAGES, os.devnull), engine, release)
    if folder.is_dir():
        read = READERS[engine](PackageSources(folder)).read()
        assert read.complete
        assert digest(parser_of(read)) == SHIPPED[engine]["releases"][release]


def accepted_by(table: EngineFlags, release: str) -> Parser:
    """Return the parser of a release as the component package understands the table."""
    version = version_of(release)
    parser: Parser = {}
    for flag in table.known_in(version):
        names, form = flag.names_in(version), flag.form_in(version)
        row = {key: value for key, value in form._asdict().items() if key in PARSED}
        row = {key: value for key, value in row.items() if value is not None and value is not False and value != ()}
        if form.allowed(version):
            row["values"] = form.allowed(version)
        for column, spellings in (("alias", flag.aliases), ("negated", flag.negatives)):
            row |= {column: found} if (found := [each for each in spellings if each in names]) else {}
        parser[flag.name] = row | ({"unread": True} if is_unread(table, flag, form) else {})
    return parser


PARSED = ("type", "fold", "words", "nargs", "repeat", "min", "max", "above", "below")


def is_unread(table: EngineFlags, flag: Flag, form: Form) -> bool:
    row = SHIPPED[table.engine.name]["flags"][flag.name]
    forms = [*row.get("earlier", ()), row]
    return "unread" in forms[[*flag.earlier, flag.form].index(form)]


def test_every_release_is_there() -> None:
    """The releases of both registries, from 0.7 and 0.4 on; SGLang published no 0.5.0."""
    vllm, sglang = (list(SHIPPED[engine]["releases"]) for engine in ("vllm", "sglang"))
    assert (len(vllm), vllm[0], vllm[-1]) == (54, "0.7.0", "0.33.0")
    assert (len(sglang), sglang[0], sglang[-1]) == (92, "0.4.0", "0.5.23")
    assert vllm == sorted(vllm, key=order)
    assert sglang == sorted(sglang, key=order)
    assert {f"0.{minor}.0" for minor in range(7, 34)} <= set(vllm)


SGLANG = """\
import argparse
from typing import List, Optional
from sglang.srt.arg_utils import A, Arg
from sglang.srt.choices import BACKENDS

class ServerArgs:
    model_path: A[str, Arg(help="Path.", aliases=["--model"])]
    host: A[str, "Host."] = "127.0.0.1"
    backend: A[Optional[str], Arg(help="Backend.", choices=BACKENDS + ["extra"])] = None
    sizes: A[Optional[List[int]], "Sizes."] = None
    eager: A[bool, "Eager."] = False
    both: A[bool, Arg(help="Both.", action=argparse.BooleanOptionalAction)] = True
    limit: A[Optional[int], Arg(help="Limit.", type_parser=human_readable_int)] = None
    short: A[int, Arg(help="Short.", cli_name="--brief")] = 1
    hidden: A[int, Arg(no_cli=True)] = 1
    parser: Optional[str] = None

    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        parser.add_argument("--old", action=DeprecatedStoreTrueAction, help="Deprecated. Use --eager.")
        choices = set(BACKENDS)
        if plugins:
            choices.add("more")
        parser.add_argument("--parser", type=str, choices=choices)

class DeprecatedStoreTrueAction(argparse.Action):
    def __init__(self, option_strings, dest, nargs=0, **kwargs):
        pass
"""


def test_annotated_fields_and_calls_of_sglang_are_read(tmp_path: Path) -> None:
    choices = 'BACKENDS = ["a", "b"]\n'
    write(tmp_path, "sglang/srt", {"server_args": SGLANG, "choices": choices})
    release = SglangReader(PackageSources(tmp_path)).read()
    assert {option.names: option.form() for option in release.options} == {
        ("--model-path", "--model"): {"type": "string"},
        ("--host",): {"type": "string"},
        ("--backend",): {"type": "enum", "values": ["a", "b", "extra"]},
        ("--sizes",): {"type": "int", "nargs": "+"},
        ("--eager",): {"type": "switch"},
        ("--both",): {"type": "bool"},
        ("--limit",): {"type": "human"},
        ("--brief",): {"type": "int"},
        ("--old",): {"type": "switch"},
        ("--parser",): {"type": "string"},
    }
    assert release.complete
    assert release.unread == ["sglang/srt/server_args.py:25: --parser: choices choices"]
    assert [option.names[0] for option in release.options if option.deprecated] == ["--old"]


@pytest.mark.parametrize(
    ("hint", "form"),
    [
        ("Literal['a', 'b'] | None", {"type": "enum", "values": ["a", "b"]}),
        ("Literal[1, 8]", {"type": "enum", "values": ["1", "8"]}),
        ("Literal['a'] | str", {"type": "string", "values": ["a"]}),
        ("SkipValidation[int]", {"type": "int"}),
        ("list[Literal['a']] | None", {"type": "enum", "values": ["a"], "nargs": "+"}),
        ("list[int]", {"type": "int", "nargs": "+"}),
        ("tuple[int, int]", {"type": "int", "nargs": 2}),
        ("bool | str | None", {"type": "string", "nargs": "?"}),
        ("dict[str, Any]", {"type": "json"}),
        ("dict[str, Any] | Callable", {"type": "json_or_string"}),
        ("'Nested | None'", {"type": "json"}),
        ("float", {"type": "float"}),
        ("Any", {"type": "string"}),
        ("Backend | None", {"type": "enum", "values": ["auto", "FAST", "SAFE"], "fold": True}),
    ],
)
def test_type_hints_of_vllm_are_read_as_its_parser_does(tmp_path: Path, hint: str, form: object) -> None:
    config = dedent(f"""\
        from enum import Enum

        class Backend(Enum):
            FAST = "x.Fast"
            SAFE = "x.Safe"

        @config
        class Nested:
            pass

        @config
        class ModelConfig:
            dtype: {hint} = None
            enforce_eager: bool = False
            max_model_len: int = 1
            seed: int = 0
            tensor_parallel_size: int = 1

            @field_validator("dtype", mode="before")
            def validate(cls, value):
                if value.lower() == "auto":
                    return None
                return Backend[value.upper()]
        """)
    write(tmp_path, "vllm", {"config/model": config, "engine/arg_utils": ENGINE, "entrypoints/cli_args": FRONT})
    release = VllmReader(PackageSources(tmp_path)).read()
    assert [option.form() for option in release.options if option.names == ("--dtype",)] == [form]
