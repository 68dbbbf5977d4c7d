"""What ``workbench size`` refuses: each message names the option, what was found and what is allowed."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.texts.printable import printable
from tests.commands.sizing.runs import PROFILES, SAMPLE
from tests.hostile.runs import run

GOOD = ("--model", "m", "--rate", "40", *SAMPLE, *PROFILES)

REFUSED = [
    (("--rate", "-1"), "--rate: must be requests per minute such as 480, from 0 to 1000000000, found '-1'"),
    (("--rate", "NaN"), "--rate: must be requests per minute such as 480, from 0 to 1000000000, found 'NaN'"),
    (("--rate", "1e400"), "--rate: must be requests per minute such as 480, from 0 to 1000000000, found '1e400'"),
    (("--rate", "9999999999"), "--rate: must be"),
    (("--rate", "٣"), "--rate: must be"),
    (("--output-tokens", "0.5"), "--output-tokens: must be mean output tokens such as 256, from 1 to"),
    (("--output-tokens", "many"), "--output-tokens: must be mean output tokens such as 256, from 1 to"),
    (("--input-tokens", "-5"), "--input-tokens: must be mean input tokens such as 512, from 0 to"),
    (("--slo-itl", "24.5"), "--slo-itl: must be whole milliseconds from 0 to 10000000, found '24.5'"),
    (("--slo-itl", "inf"), "--slo-itl: must be whole milliseconds from 0 to 10000000, found 'inf'"),
    (("--slo-ttft", "-1"), "--slo-ttft: must be whole milliseconds"),
    (("--slo-ttft", "10000001"), "--slo-ttft: must be whole milliseconds"),
    (("--prefill-ms", "x"), "--prefill-ms: must be whole milliseconds"),
    (("--profile", ""), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH such as H100=1x6.973/0.027@64, found ''"),
    (("--profile", "H100"), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH"),
    (("--profile", "=1x1/1@4"), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH"),
    (("--profile", "H100=1x-1/1@4"), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH"),
    (("--profile", "H100=1x1./1@4"), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH"),
    (("--profile", "H100=1x1e9/1@4"), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH"),
    (("--profile", "H100=1x1/1@4\n"), "--profile: must be ACC=COUNTxALPHA/BETA@BATCH"),
    (
        ("--profile", "H100=0x1/1@4"),
        "--profile H100: the number of accelerators of a replica must be between 1 and 2147483647, found 0",
    ),
    (("--profile", "H100=1x1/1@0"), "--profile H100: the maximum batch size must be between 1 and 65536, found 0"),
    (
        ("--profile", "H100=1x1/1@999999999"),
        "--profile H100: the maximum batch size must be between 1 and 65536, found 999999999",
    ),
    (("--profile", "H100=1x0/0@4"), "--profile H100: alpha and beta are both 0, so a token would take no time"),
    (("--price", "A100"), "--price: must be ACC=CENTS such as A100=40, found 'A100'"),
    (("--price", "=4"), "--price: must be ACC=CENTS such as A100=40, found '=4'"),
    (("--price", "A100=41"), "--price: 'A100' has two prices; pass one"),
    (("--price", "A10=41"), "--price: 'A10' is not among the compared accelerators; did you mean 'A100'?"),
    (("--price", "X=-1"), "--price X: must be US cents per hour of one accelerator such as 40, from 0 to"),
    (
        ("--accelerator", "H"),
        "--accelerator: 'H' is not among the compared accelerators; available: A100, G2, ",
    ),
    (("--variant", "x"), "--model and --variant cannot be used together"),
    (("models.yaml",), "manifests are read only for --variant; pass --variant, or omit the paths"),
    (("--plot", "x.pdf"), "--plot: must be a file that ends in .svg or .png, found 'x.pdf'"),
    (("--profiles", "nosuch.json"), "nosuch.json: cannot be read: No such file or directory"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_wrong_usage(arguments: tuple[str, ...], message: str) -> None:
    done = run("size", *GOOD, *arguments)
    assert (done.code, done.stdout) == (2 if "nosuch" not in message else 1, "")
    assert message in done.stderr


MISSING = [
    (("--rate", "40", *SAMPLE), "pass --model, or --variant with manifests, or --profile"),
    (("--model", " ", "--rate", "40", *SAMPLE), "pass --model, or --variant with manifests, or --profile"),
    (("--model", "m", *SAMPLE, *PROFILES), "the load of m is unknown; pass --rate\n"),
    (("--model", "m", *SAMPLE[2:], *PROFILES), "the load of m is unknown; pass --rate and --output-tokens\n"),
    (
        ("--model", "m", *SAMPLE[:2], "--rate", "40", *PROFILES),
        "m has no SLO; pass --slo-itl, --slo-ttft ",
    ),
    (
        ("--model", "llama-7c", "--rate", "40", *SAMPLE),
        "figures for 'llama-7c'; did you mean 'llama-7b'?",
    ),
    (("--model", "x" * 60, "--rate", "40", *SAMPLE), "available: granite-13b, llama-13b, llama-3.1-8b, llama-70b"),
    (
        ("--variant", "x", "--stack", "none", *SAMPLE),
        "no manifests: pass files or folders, or - for stdin; or run this in a project with a stack",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), MISSING)
def test_what_is_missing(arguments: tuple[str, ...], message: str) -> None:
    done = run("size", *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr


def test_prefill_that_is_too_long_for_any_replica() -> None:
    for prefill in ("500", "501"):
        done = run("size", *GOOD, "--prefill-ms", prefill)
        assert (done.code, done.stdout) == (1, "")
        assert f"--prefill-ms: with a prefill time of {prefill} ms, no number of replicas meets " in done.stderr
    assert run("size", *GOOD, "--prefill-ms", "499").code in (0, 1)


FILES = [
    ("", "is not valid JSON"),
    ("{", "is not valid JSON"),
    ("[" * 100_000, "is not valid JSON"),
    ("7" * 5000, "is not valid JSON"),
    ("null", "must be output of fit-profile --output json, with profiles"),
    ('{"alpha": 1}', "must be output of fit-profile --output json, with profiles"),
    ('{"profiles": []}', "has no profile; pass --accelerator to fit-profile to write one"),
    ("[1]", "profiles[0]: must be"),
    ('[{"accelerator": "A"}]', "profiles[0].count: is required"),
    ('[{"accelerator": "", "count": 1, "alpha": 1, "beta": 1, "batch": 4}]', "profiles[0].accelerator: "),
    ('[{"accelerator": "A", "count": true, "alpha": 1, "beta": 1, "batch": 4}]', "profiles[0].count: "),
    ('[{"accelerator": "A", "count": 1, "alpha": NaN, "beta": 1, "batch": 4}]', "profiles[0].alpha: "),
    ('[{"accelerator": "A", "count": 1, "alpha": 1e400, "beta": 1, "batch": 4}]', "profiles[0].alpha: "),
    ('[{"accelerator": "A", "count": 1, "alpha": -1, "beta": 1, "batch": 4}]', "profiles[0].alpha: "),
    ('[{"accelerator": "A", "count": 1, "alpha": 1, "beta": 1, "batch": 1.5}]', "profiles[0].batch: "),
    ('[{"accelerator": "A", "count": 1, "alpha": 1, "beta": 1, "batchs": 4}]', "unknown key; did you mean 'batch'?"),
    (
        '[{"accelerator": "A", "count": 1, "alpha": 1, "beta": 1, "batch": 99999}]',
        "profiles[0]: the maximum batch size must be between 1 and 65536, found 99999",
    ),
]


@pytest.mark.parametrize(("text", "message"), FILES)
def test_files_of_profiles(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "fit.json"
    file.write_text(text)
    done = run("size", "--model", "m", "--rate", "40", *SAMPLE, "--profiles", str(file))
    assert (done.code, done.stdout) == (2, "")
    assert f"--profiles {file}: " in done.stderr
    assert message in done.stderr


def test_files_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "fit.json").write_bytes(b"[\xff]")
    done = run("size", "--model", "m", "--rate", "40", *SAMPLE, "--profiles", str(tmp_path / "fit.json"))
    assert (done.code, done.stdout) == (1, "")
    assert "fit.json:1: not UTF-8 text" in done.stderr


HOSTILE = "\x1b[31m$(X)${Y}\n\u202e\u6f22 $1^2$ [bold]</text>&"


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    entry = {"accelerator": HOSTILE, "count": 1, "alpha": 20.58, "beta": 0.41, "batch": 4}
    (tmp_path / "fit.json").write_text(json.dumps({"profiles": [entry]}))
    options = ("--rate", "40", *SAMPLE, "--profiles", str(tmp_path / "fit.json"))
    done = run("size", "--model", HOSTILE, *options)
    assert done.code == 0, done.stderr
    for line in (done.stdout + done.stderr).split("\n"):
        assert printable(line) == line
    assert "\\x1b[31m$(X)${Y}\\x0a\\u202e\u6f22 $1^2$ [bold]</text>&" in done.stdout
    as_csv = run("size", "--model", HOSTILE, *options, "--output", "csv").stdout
    assert [line for line in as_csv.split("\n") if printable(line) != line] == []
    assert as_csv.count("\n") == 2
    as_json = json.loads(run("size", "--model", HOSTILE, *options, "--output", "json").stdout)
    assert (as_json["model"], as_json["accelerators"][0]["accelerator"]) == (HOSTILE, HOSTILE)


TEXTS = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"[A-Z0-9]{1,3}=[0-9]{1,4}x[0-9.]{1,8}/[0-9.]{1,8}@[0-9]{1,4}", fullmatch=True),
    st.sampled_from(["0", "1", "1e400", "nan", "-0", "1.0000000000000000001", "999999999", "0.000000000001"]),
)


@given(
    rate=TEXTS,
    tokens=TEXTS,
    itl=TEXTS,
    ttft=TEXTS,
    profile=TEXTS,
    price=st.one_of(TEXTS, st.just("A=1")),
    form=st.sampled_from(["table", "json", "csv"]),
)
def test_anything_ends_with_a_message(
    rate: str, tokens: str, itl: str, ttft: str, profile: str, price: str, form: str
) -> None:
    options = {
        "--rate": rate,
        "--output-tokens": tokens,
        "--slo-itl": itl,
        "--slo-ttft": ttft,
        "--profile": profile,
        "--price": price,
    }
    done = run("size", "--output", form, "--model", "m", *(f"{name}={value}" for name, value in options.items()))
    assert done.code in (0, 1, 2)
    assert (done.code == 2) == (done.stdout == "")
    assert done.stdout or done.stderr.count("\n") == 1


NUMBERS = st.decimals(min_value=0, max_value=10**9, allow_nan=False, places=6).map(lambda number: f"{number:f}")


@given(
    rate=NUMBERS,
    tokens=st.decimals(min_value=1, max_value=10**6, places=2).map(lambda number: f"{number:f}"),
    alpha=NUMBERS,
    beta=NUMBERS,
    batch=st.integers(1, 600),
    itl=st.integers(0, 10**7),
    ttft=st.integers(0, 10**7),
)
def test_any_numbers_are_sized_or_refused(
    rate: str, tokens: str, alpha: str, beta: str, batch: int, itl: int, ttft: int
) -> None:
    options = ("--rate", rate, "--output-tokens", tokens, "--slo-itl", str(itl), "--slo-ttft", str(ttft))
    done = run("size", "--model", "m", *options, "--profile", f"A=1x{alpha}/{beta}@{batch}", "--price", "A=1")
    if done.code == 0:
        assert "\nA " in done.stdout
        assert re.match(r"m: (1 replica|\d+ replicas) on A, \$", done.stdout)
    else:
        assert (done.code, "A: " in done.stdout) == (1, True) or (done.code, "--profile A: " in done.stderr) == (
            2,
            True,
        )
