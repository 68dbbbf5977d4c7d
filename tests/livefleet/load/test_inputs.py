import pytest

from livefleet.load import inputs
from livefleet.load.arrivals import Range
from toolkit.errors import UserError


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("30s", 30), ("5m", 300), ("1.5h", 5400), ("250ms", 0.25), (" 2s ", 2)]
)
def test_durations(text: str, seconds: float) -> None:
    assert inputs.duration("--duration", text) == seconds


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "-1s", "5 minutes", "1d", "nan", "inf", "9999h", "1e3", "5m30s", "\u0665s"]
)
def test_wrong_durations(text: str) -> None:
    with pytest.raises(UserError, match="--think: must be a duration of at most a week"):
        inputs.duration("--think", text)


@pytest.mark.parametrize(
    ("text", "span"),
    [("5", Range(5, 5)), ("0.5", Range(0.5, 0.5)), ("5..50", Range(5, 50)), ("50..0", Range(50, 0))],
)
def test_rates(text: str, span: Range) -> None:
    assert inputs.rate(text) == span


@pytest.mark.parametrize("text", ["", "0", "0..0", "-5", "5..", "..5", "5...50", "a..b", "nan", "1e9", "999999"])
def test_wrong_rates(text: str) -> None:
    with pytest.raises(UserError, match="--rate: must be requests per second"):
        inputs.rate(text)


@pytest.mark.parametrize(("text", "span"), [("200", Range(200, 200)), ("1..8000", Range(1, 8000))])
def test_tokens(text: str, span: Range) -> None:
    assert inputs.tokens("--input-tokens", text) == span


@pytest.mark.parametrize("text", ["0", "0..5", "1.5", "x", "99999999", "-1"])
def test_wrong_tokens(text: str) -> None:
    with pytest.raises(UserError, match="--input-tokens: must be tokens"):
        inputs.tokens("--input-tokens", text)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("https://models.example.com/v1/chat/completions", "https://models.example.com/v1"),
        ("https://[::1]:8000/v1/completions", "https://[::1]:8000/v1"),
    ],
)
def test_addresses(text: str, url: str) -> None:
    assert inputs.base_url(text) == url


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1:8000", "ftp://a/b", "http://", "http://a:x/", "http://a:99999/", "http://[::1"]
)
def test_wrong_addresses(text: str) -> None:
    with pytest.raises(UserError, match="--url: must be an address such as"):
        inputs.base_url(text)


def test_an_address_with_a_password_is_not_repeated() -> None:
    with pytest.raises(UserError) as caught:
        inputs.base_url("http://me:hunter2@a/v1")
    assert "hunter2" not in str(caught.value)
    assert "--key-env" in str(caught.value)


def test_an_address_with_a_query_is_refused() -> None:
    with pytest.raises(UserError, match="must end with a path"):
        inputs.base_url("http://a/v1?key=b")


def test_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", " sk-abc\n")
    assert inputs.key_in("MODEL_KEY") == "sk-abc"
    assert inputs.key_in("") == ""


@pytest.mark.parametrize(
    ("value", "why"), [("", "is not set"), ("a\nb", "cannot be sent"), ("schlüssel", "cannot be sent")]
)
def test_wrong_keys_are_not_repeated(monkeypatch: pytest.MonkeyPatch, value: str, why: str) -> None:
    monkeypatch.setenv("MODEL_KEY", value)
    with pytest.raises(UserError, match=f"--key-env: .*{why}") as caught:
        inputs.key_in("MODEL_KEY")
    assert not value or value not in str(caught.value)
