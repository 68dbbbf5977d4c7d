"""Tables of flags are brought up to a release from its sources alone."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from extract_flags import main
from extraction.sglang import SglangReader
from extraction.sources import PackageSources
from extraction.table import Table, format_row
from extraction.vllm import VllmReader

from components.engines.flags.tables import EngineFlags
from components.engines.registry import engines

VLLM_TABLE = """\
# Flags of a test.
style: argparse
underscores: true
complete:
  versions:
    [[0, 1], [0, 2]]
  tags: v[0-9.]+
extractor: {unregistered: [--help]}
flags:
  --dtype: {type: enum, values: [auto, half, {value: old, until: [0, 2]}]}
  # Stays where it is.
  --enforce-eager: {type: bool, deprecated: [0, 2], instead: "--compilation-config '{\\"mode\\": …}'"}
  --help: {type: switch, alias: [-h]}
  --max-model-len: {type: human, words: [auto], min: -1}
  --port: {type: int, min: 0, max: 65535}
  --seed: {type: int}
  --tensor-parallel-size: {type: int, alias: [-tp], min: 1, from: [0, 2], absent: [0, 1]}
"""
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

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command on a release of vLLM; it returns the exit code, output and table."""
    table = tmp_path / "flags.yaml"
    table.write_text(VLLM_TABLE)

    def command(version: str, *options: str, config: str = CONFIG, engine: str = ENGINE) -> tuple[int, str, str]:
        write(tmp_path, "vllm", {"config/model": config, "engine/arg_utils": engine, "entrypoints/cli_args": FRONT})
        code = main(["vllm", version, str(tmp_path), "--table", str(table), *options])
        return code, capsys.readouterr().out, table.read_text()

    return command


def write(folder: Path, package: str, modules: dict[str, str]) -> None:
    for name, text in modules.items():
        path = folder / package / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_release_that_the_table_describes_differs_in_nothing(run: Run) -> None:
    assert run("0.2.0", "--check") == (0, "", VLLM_TABLE)
    assert run("0.2.0") == (0, "", VLLM_TABLE)


def test_a_new_release_without_changes_is_listed(run: Run) -> None:
    code, output, _ = run("0.3", "--check")
    assert (code, output) == (1, "differs: 0.3 is not in the list of complete releases\n")
    code, output, text = run("0.3")
    assert (code, output) == (0, "")
    assert text == VLLM_TABLE.replace("[[0, 1], [0, 2]]", "[[0, 1], [0, 2], [0, 3]]")


def test_a_new_flag_gets_a_row_with_its_type_and_span(run: Run) -> None:
    new = ENGINE.replace(SEED, SEED + '        group.add_argument("--overrides", "-o", **kwargs["overrides"])\n')
    code, output, text = run("0.3", engine=new)
    assert (code, output) == (0, "changed: --overrides: new, json\n")
    row = "  --overrides: {type: json, alias: [-o], from: [0, 3], absent: [0, 2]}\n"
    assert text == VLLM_TABLE.replace("[0, 2]]\n", "[0, 2], [0, 3]]\n", 1).replace("  --port", f"{row}  --port")


def test_a_removed_flag_ends_with_the_release(run: Run) -> None:
    code, output, text = run("0.3", engine=ENGINE.replace(SEED, ""))
    assert (code, output) == (0, "changed: --seed: gone\n")
    assert "  --seed: {type: int, until: [0, 3]}\n" in text


def test_a_changed_type_moves_the_old_one_to_earlier(run: Run) -> None:
    code, output, text = run("0.3", config=CONFIG.replace("seed: int | None", "seed: str | None"))
    assert (code, output) == (0, "changed: --seed: takes string, was int\n")
    assert "  --seed: {type: string, earlier: [{last: [0, 2], until: [0, 3], type: int}]}\n" in text
    table = EngineFlags(engines()["vllm"], yaml.safe_load(text))
    seed = table.find("--seed")
    assert seed is not None
    assert (seed.form_in((0, 2)).type, seed.form_in((0, 3)).type) == ("int", "string")


def test_values_come_and_go(run: Run) -> None:
    _, output, text = run("0.3", config=CONFIG.replace('"auto", Tail', '"auto", "full"'))
    assert output == "changed: --dtype: half gone\nchanged: --dtype: full new\n"
    row = yaml.safe_load(text)["flags"]["--dtype"]
    assert row["values"] == [
        "auto",
        {"value": "full", "from": [0, 3], "absent": [0, 2]},
        {"value": "half", "until": [0, 3]},
        {"value": "old", "until": [0, 2]},
    ]


def test_a_range_that_only_the_table_knows_stays(run: Run) -> None:
    _, output, text = run("0.3", config=CONFIG.replace("default=1, ge=1", "default=1, ge=2"))
    assert output == "changed: --tensor-parallel-size: min is 2, was 1\n"
    assert "--port: {type: int, min: 0, max: 65535}" in text


def test_a_renamed_flag_is_one_that_went_and_one_that_came(run: Run) -> None:
    _, output, text = run("0.3", engine=ENGINE.replace('"--seed"', '"--random-seed"'))
    assert output == "changed: --random-seed: new, int\nchanged: --seed: gone\n"
    assert "  --random-seed: {type: int, from: [0, 3], absent: [0, 2]}\n" in text
    assert "  --seed: {type: int, until: [0, 3]}\n" in text


def test_a_renamed_spelling_keeps_the_row_of_its_flag(run: Run) -> None:
    _, output, text = run("0.3", engine=ENGINE.replace('"-tp"', '"-tps"'))
    assert "also spelled -tps" in output
    assert "no longer spelled -tp" in output
    rows = yaml.safe_load(text)["flags"]
    assert rows["--tensor-parallel-size"]["alias"] == ["-tps"]
    assert rows["-tp"]["until"] == [0, 3]
    assert rows["-tp"]["instead"] == "--tensor-parallel-size"


def test_a_flag_whose_alias_remains_is_named_by_it(run: Run) -> None:
    _, _, text = run("0.3", engine=ENGINE.replace('"--tensor-parallel-size", "-tp"', '"-tp"'))
    rows = yaml.safe_load(text)["flags"]
    assert rows["-tp"] == {"type": "int", "min": 1, "from": [0, 2], "absent": [0, 1]}
    assert rows["--tensor-parallel-size"] == {**rows["-tp"], "until": [0, 3], "instead": "-tp"}


@pytest.mark.parametrize(
    "change",
    [{}, {"engine": ENGINE.replace(SEED, "")}, {"config": CONFIG.replace("seed: int | None", "seed: str")}],
)
def test_a_second_run_changes_nothing(run: Run, change: dict[str, str]) -> None:
    _, _, text = run("0.3", **change)
    assert run("0.3", **change) == (0, "", text)
    assert run("0.3", "--check", **change) == (0, "", text)


def test_a_release_between_others_narrows_the_spans(run: Run) -> None:
    engine = ENGINE.replace(
        '        group.add_argument("--tensor-parallel-size", "-tp", **kwargs["tensor_parallel_size"])\n', ""
    )
    _, output, text = run("0.1.5", config=CONFIG.replace("Tail]", 'Tail, "old"]'), engine=engine)
    assert output == "changed: --tensor-parallel-size: still absent in this release\n"
    assert "from: [0, 2], absent: [0, 1, 5]" in text
    assert "[[0, 1], [0, 1, 5], [0, 2]]" in text
    _, output, text = run("0.1.7")
    assert "--dtype: old gone" in output
    assert "from: [0, 1, 7], absent: [0, 1, 5]" in text


def test_a_listed_release_that_differs_is_resolved_by_hand(run: Run) -> None:
    code, output, text = run("0.2", config=CONFIG.replace("seed: int | None", "seed: str"))
    assert (code, output) == (1, "by hand: --seed: takes string, was int\n")
    assert text == VLLM_TABLE


def test_a_flag_that_returns_is_resolved_by_hand(run: Run) -> None:
    run("0.3", engine=ENGINE.replace(SEED, ""))
    code, output, text = run("0.4")
    assert code == 1
    assert "by hand: --seed: accepted, but gone since 0.3 according to the table\n" in output
    assert "0.4 is not listed as complete yet" in output
    assert "[0, 4]" not in text


def test_choices_of_code_that_runs_are_named_and_change_nothing(run: Run) -> None:
    engine = ENGINE.replace('"--dtype", **kwargs["dtype"]', '"--dtype", choices=plugins.dtypes()')
    code, output, text = run("0.2", "--check", engine=engine)
    assert (code, text) == (0, VLLM_TABLE)
    assert output == "not readable: vllm/engine/arg_utils.py:14: --dtype: choices plugins.dtypes()\n"


def test_a_new_flag_whose_type_is_not_readable_says_so(run: Run) -> None:
    new = ENGINE.replace(SEED, SEED + '        group.add_argument("--plug", type=plugins.read)\n')
    _, output, text = run("0.3", engine=new)
    assert "not readable: vllm/engine/arg_utils.py:18: --plug: type plugins.read\n" in output
    assert "its type could not be read" in output
    assert "--plug: {type: string, from: [0, 3], absent: [0, 2]}" in text


def test_a_release_with_unreadable_spellings_is_not_complete(run: Run) -> None:
    engine = ENGINE.replace(
        SEED, "        for name in plugins.names():\n            group.add_argument(name, type=int)\n"
    )
    code, output, text = run("0.3", engine=engine)
    assert code == 1
    assert "the spelling of" in output
    assert "--seed: gone" not in output  # it may be one of those that could not be read
    assert text == VLLM_TABLE


@pytest.mark.parametrize(
    "statement",
    [
        "try:\n            group.add_argument(name(), type=int)\n        except ValueError:\n            pass",
        "missing(parser)",
    ],
)
def test_what_cannot_be_followed_leaves_the_release_incomplete(run: Run, statement: str) -> None:
    code, _, text = run("0.3", engine=ENGINE.replace(SEED, f"        {statement}\n"))
    assert (code, text) == (1, VLLM_TABLE)


def test_functions_that_take_the_parser_are_followed(run: Run) -> None:
    helper = "def add_seed(parser):\n    parser.add_argument('--seed', type=int)\n"
    engine = ENGINE.replace(SEED, "        os.environ['A'] = 'b'\n        add_seed(parser)\n") + helper
    code, output, text = run("0.2", "--check", engine=engine)
    assert (code, text) == (0, VLLM_TABLE)
    assert output == "not readable: vllm/engine/arg_utils.py:17: os.environ['A'] = 'b'\n"


@pytest.mark.parametrize("version", ["main", "v0.3", "3"])
def test_only_versions_of_releases_are_read(run: Run, version: str) -> None:
    with pytest.raises(SystemExit) as exit_:
        run(version)
    assert exit_.value.code == 2


def test_a_folder_without_the_package_is_refused(tmp_path: Path) -> None:
    for engine in ("vllm", "sglang"):
        with pytest.raises(SystemExit, match="is this the folder"):
            main([engine, "0.3.0", str(tmp_path)])


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
        ("Literal['a'] | str", {"type": "string"}),
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


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_rows_are_written_as_the_shipped_tables_have_them(engine: str) -> None:
    text = (Path(__file__).parents[2] / "components" / "engines" / engine / "flags.yaml").read_text()
    rows = Table(text).rows
    assert {name: yaml.safe_load(format_row(name, row))[name] for name, row in rows.items()} == rows
    assert sum(format_row(name, row) in text for name, row in rows.items()) > 0.95 * len(rows)
