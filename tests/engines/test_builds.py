"""The spellings that each build of llama.cpp accepts, from its sources alone."""

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from extract_flags import main
from extraction.llamacpp import Spellings, sources_of, spellings_of, with_builds

from components.engines.command_line import CommandLine
from components.engines.flags.tables import EngineFlags, flags_of
from components.engines.lint import lint

SOURCE = r"""
// add_opt(common_arg({"--in-a-comment"}, "x", [](common_params & params) {}));
static std::initializer_list<enum llama_example> some = {LLAMA_EXAMPLE_MTMD, LLAMA_EXAMPLE_SERVER};
common_params_context common_params_parser_init(common_params & params, llama_example ex) {
    auto add_opt = [&](common_arg arg) { };
    add_opt(common_arg(
        {"-t", "--threads"}, "N",
        string_format("number of \"threads\" {to use, (default: %d)", params.n),
        [](common_params & params, int value) { params.n = value; /* } */ }
    ).set_env("LLAMA_ARG_THREADS"));
    add_opt(common_arg({"-m", "--model"}, "FNAME", "path",
        [](common_params & params, const std::string & value) { params.model = value; }
    ).set_examples(some));
    add_opt(common_arg({"--warmup"}, {"--no-warmup"}, "help",
        [](common_params & params, bool value) { params.warmup = value; }
    ).set_examples({LLAMA_EXAMPLE_SERVER}).set_excludes({LLAMA_EXAMPLE_CLI}));
    add_opt(common_arg({"--swap"}, "A", "B", "help",
        [](common_params & params, const std::string & a, const std::string & b) { }));
    add_opt(common_arg({"--metrics"}, "help", [](common_params & params) { params.metrics = true; }));
    add_opt(common_arg({"--chat"}, "help", [](common_params & params) { }).set_examples({LLAMA_EXAMPLE_CLI}));
    add_opt(common_arg({"--quiet"}, "help", [](common_params & params) { }).set_excludes({LLAMA_EXAMPLE_SERVER}));
    add_opt(common_arg({"--old"}, "N", "removed", [](common_params & /*params*/, int /*value*/) {
        arg_removed("use --new");
    }));
    add_opt(common_arg({"--older"}, "removed", [](common_params &) { throw std::invalid_argument("gone"); }));
}
"""
ACCEPTED = {
    "-t": "int",
    "--threads": "int",
    "-m": "string",
    "--model": "string",
    "--warmup": "switch",
    "--no-warmup": "switch",
    "--swap": "two strings",
    "--metrics": "switch",
}
EMPTY: dict[str, Any] = {"builds": [], "spellings": {}}
DIGESTS = {
    4441: ("b8668165538a", 195),
    4719: ("c498d1cb3c39", 208),
    5500: ("20026c90ebeb", 223),
    6089: ("74f00ee6e7ae", 241),
    6324: ("255e180d7635", 255),
    6325: ("debd4a111190", 255),
    6500: ("70ffd001f778", 257),
    7000: ("93f6bb545c2c", 267),
    7376: ("f1255fb99150", 288),
    8000: ("a49829469352", 318),
    8955: ("b46fa4f281e1", 380),
    9109: ("3fabe05e1ba7", 375),
    9500: ("8a5b9e1d7b3a", 386),
    10068: ("9a83e7131ef0", 399),
    10355: ("08d13f8022fb", 396),
    10588: ("b2eac0a1a7e9", 399),
    10705: ("6bf5d7be6b8e", 409),
    10819: ("6bf5d7be6b8e", 409),
    10883: ("827ae33283ee", 404),
    11292: ("827ae33283ee", 404),
    11434: ("727e41235871", 405),
}
"""Of the spellings and what each takes, and their number, as read from the sources of these builds."""
SOURCES = "LLAMACPP_SOURCES"
"""Variable with a Git repository of llama.cpp, or a folder of source distributions, to read all builds again."""


def table() -> EngineFlags:
    known = flags_of("llamacpp")
    assert known is not None
    return known


def accepted_by(build: int) -> Spellings:
    """Return what a build accepts according to the tables."""
    accepted: Spellings = {}
    for flag in table().known_in((build,)):
        form = flag.form_in((build,))
        kind = "two strings" if form.nargs == 2 else "value" if form.takes_value else "switch"
        accepted |= dict.fromkeys(flag.names_in((build,)), kind)
    return accepted


def without_types(spellings: Spellings) -> Spellings:
    """Return spellings with numbers as values: some handlers read numbers from strings."""
    return {name: "value" if kind in ("int", "string") else kind for name, kind in spellings.items()}


def test_only_what_the_server_accepts_is_read() -> None:
    assert spellings_of(SOURCE) == ACCEPTED


@pytest.mark.parametrize("build", DIGESTS)
def test_a_build_accepts_what_its_sources_say(build: int) -> None:
    accepted, (digest, number) = accepted_by(build), DIGESTS[build]
    assert len(accepted) == number
    folder = Path(os.environ.get(SOURCES, os.devnull))
    for known, text in sources_of(folder, build) if folder.is_dir() else ():
        read = spellings_of(text)
        assert without_types(read) == accepted_by(known), known
        if known == build:
            assert hashlib.sha256(json.dumps(sorted(read.items())).encode()).hexdigest()[:12] == digest


def test_every_spelling_has_a_row_and_every_row_a_build() -> None:
    shipped = json.loads(table().engine.folder.joinpath("parsers.json").read_text())
    rows = {name for flag in table().flags for name in flag.names}
    assert rows == {*shipped["spellings"]}


@pytest.mark.parametrize(
    ("build", "args", "reason"),
    [
        (10588, ["--no-mmap"], ""),
        (10883, ["--no-mmap"], "(missing in b10883); use --load-mode none"),
        (10883, ["--direct-io"], "use --load-mode dio"),
        (7667, ["--direct-io"], "(available in b7668)"),
        (7375, ["--mmap"], "(available in b7376)"),
        # Only the negative form is old.
        (7375, ["--no-kv-offload"], ""),
        (7375, ["--kv-offload"], "(available in b7376); use an image of server-b7376 or later, or"),
        (7376, ["--kv-offload"], ""),
        (8954, ["--draft-max", "8"], ""),
        (8955, ["--draft-max", "8"], "use --spec-draft-n-max"),
        (6324, ["--flash-attn"], ""),
        (6325, ["--flash-attn", "on"], ""),
        (6357, ["--flash-attn", "1"], "does not accept '1'"),
        (7447, ["--lora-scaled", "x", "0.5"], ""),
        (7448, ["--lora-scaled", "x:0.5"], ""),
        (8737, ["--split-mode", "tensor"], "does not accept 'tensor'"),
        (8738, ["--split-mode", "tensor"], ""),
        # Between two builds whose flags are known it may be there.
        (10600, ["--lazy-mode", "auto"], ""),
        (10588, ["--lazy-mode", "auto"], "(missing in b10588, available in b10705)"),
    ],
)
def test_flags_come_and_go_by_build(build: int, args: list[str], reason: str) -> None:
    reasons = [finding.reason for finding in lint(CommandLine("llamacpp", f"server-b{build}", args))]
    assert [reason in each for each in reasons] == ([True] if reason else [])


def test_builds_are_added_in_any_order() -> None:
    one, two, three = {"-a": "int"}, {"-a": "int", "-b": "int"}, {"-b": "int"}
    known = with_builds(EMPTY, 10, 20, {5: one, 12: two, 18: three})
    assert known == {"builds": [[10, 20]], "spellings": {"-a": {"until": [18]}, "-b": {"from": [12]}}}
    later = with_builds(known, 30, 30, {30: one})
    assert later["builds"] == [[10, 20], [30, 30]]
    assert later["spellings"] == {"-a": {"gaps": [[[18], [30]]]}, "-b": {"from": [12], "until": [30]}}
    # What came between two builds is not known to be missing before the second one.
    new = with_builds(known, 30, 30, {30: {**three, "-c": "int"}})
    assert new["spellings"]["-c"] == {"from": [30], "absent": [20]}
    assert with_builds(with_builds(EMPTY, 30, 30, {30: one}), 10, 20, {10: one, 12: two, 18: three}) == later
    assert with_builds(later, 21, 29, {21: three})["builds"] == [[10, 30]]


def test_builds_of_a_repository_are_added_by_one_command(tmp_path: Path) -> None:
    """Of a Git repository, the number of commits is the build."""
    repository, path = tmp_path / "repository", tmp_path / "parsers.json"
    path.write_text(json.dumps(EMPTY))

    def git(*words: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(repository), *identity, *words], check=True, capture_output=True)

    repository.joinpath("common").mkdir(parents=True)
    git("init")
    for text in (SOURCE, SOURCE.replace("--metrics", "--measures")):
        repository.joinpath("common/arg.cpp").write_text(text)
        git("add", ".")
        git("commit", "--message", "m")
    assert [build for build, _ in sources_of(repository / ".git", 2)] == [1, 2]
    assert main(["llamacpp", "b2", str(repository), "--table", str(path)]) == 0
    # A work tree has the sources of one build.
    added = {*ACCEPTED, "--measures"} - {"--metrics"}
    assert json.loads(path.read_text()) == {"builds": [[2, 2]], "spellings": {name: {} for name in added}}
    assert main(["llamacpp", "b2", str(repository), "--table", str(path), "--check"]) == 0
    with pytest.raises(SystemExit):
        main(["llamacpp", "2", str(repository), "--table", str(path)])
