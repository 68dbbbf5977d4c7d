"""Project files and stack settings, read as the Pulumi CLI reads them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from workbench.engine.project import load_project
from workbench.errors import WorkbenchError


def write(folder: Path, config: Any, stack: Any, **rest: Any) -> None:
    (folder / "Pulumi.yaml").write_text(
        yaml.safe_dump({"name": "proj", "runtime": "python", "config": config, **rest})
    )
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump(stack))


def test_defaults_values_and_overrides(tmp_path: Path) -> None:
    declared = {
        "proj:count": {"type": "integer", "default": 3},
        "flag": {"type": "boolean", "default": False},
        "list": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "proj:map": {"type": "object", "default": {}},
        "text": {"type": "string", "default": ""},
        "aws:region": {"value": "eu-west-1"},
    }
    write(tmp_path, declared, {"config": {"proj:count": "5", "proj:map": {"a": 1}}})
    project = load_project(tmp_path, "dev", {"text": "given"})
    assert project.config == {
        "proj:count": "5",
        "proj:flag": "false",
        "proj:list": '["a"]',
        "proj:map": '{"a": 1}',
        "proj:text": "given",
        "aws:region": "eu-west-1",
    }


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("integer", 3, True), ("integer", "3", True), ("integer", True, False), ("integer", "x", False),
        ("boolean", "true", True), ("boolean", 1, False), ("array", "[]", True), ("array", {}, False),
        ("object", {}, True), ("object", [], False), ("string", 3, True), ("string", [], False),
    ],
)  # fmt: skip
def test_declared_types(tmp_path: Path, kind: str, value: Any, fits: bool) -> None:
    write(tmp_path, {"proj:key": {"type": kind}}, {"config": {"proj:key": value}})
    if fits:
        load_project(tmp_path, "dev")
        return
    with pytest.raises(WorkbenchError, match=rf"Pulumi\.dev\.yaml:2: proj:key: must be of type {kind}, "):
        load_project(tmp_path, "dev")


def test_every_missing_value_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"proj:a": {"type": "string"}, "proj:b": {"type": "string"}}, {})
    with pytest.raises(WorkbenchError) as wrong:
        load_project(tmp_path, "dev")
    assert len(str(wrong.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ("absent", "stacks with settings: dev"),
        ("../dev", "is not a valid stack name"),
        ("", "is not a valid stack name"),
    ],
)
def test_unknown_stacks(tmp_path: Path, stack: str, words: str) -> None:
    write(tmp_path, {}, {})
    with pytest.raises(WorkbenchError, match=words):
        load_project(tmp_path, stack)


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="does not exist"):
        load_project(tmp_path, "dev")
    write(tmp_path, {}, {})
    (tmp_path / "Pulumi.dev.yaml").write_text("config: [")
    with pytest.raises(WorkbenchError, match=r"Pulumi\.dev\.yaml"):
        load_project(tmp_path, "dev")


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"config: [", ":1:10: ", "not valid YAML: "),
        (b"config:\n  a: 1\n b: 2\n", ":3:2: ", "not valid YAML: "),
        (b"config:\n\ta: 1\n", ":2:1: ", "not valid YAML: "),
        (b"config:\n  proj:a: \xe4\n", ":2:11: ", "not UTF-8 text; save the file as UTF-8"),
        (b"a: \x07", ":1:4: ", "not valid YAML: the character U+0007 is not allowed; remove it"),
        ("b: '\N{EURO SIGN}\ufffe'".encode(), ":1:6: ", "not valid YAML: the character U+FFFE is not allowed"),
        (b"a: 2026-99-99", ":1:4: ", "not valid YAML: a date or a number that cannot be read; quote it"),
        (b"a:\n- 2\n- " + b"9" * 5000, ":3:3: ", "not valid YAML: a date or a number that cannot be read; quote it"),
        (b"a: " + b"[" * 5000, ": ", "nested too deeply to be read; flatten its maps and lists"),
        (b"- 1\n", ":1: ", "must be a YAML map, found list"),
        (b"config: [1]\n", ":1: ", "config: must be a map of keys and values, found [1]"),
        (b"config: text\n", ":1: ", 'config: must be a map of keys and values, found "text"'),
        (b"config: {}\nconfig: {}\n", ":2:1: ", "not valid YAML: key 'config' appears twice"),
        (b"config:\n  proj:a: {b: 1, b: 2}\n", ":2:18: ", "not valid YAML: key 'b' appears twice"),
        (b"config:\n  1: a\n", ":2: ", "config: keys must be strings, found 1; quote it"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["Pulumi.dev.yaml", "Pulumi.yaml"])
def test_a_broken_file_is_named_with_the_place(
    tmp_path: Path, name: str, content: bytes, place: str, reason: str
) -> None:
    write(tmp_path, {}, {})
    (tmp_path / name).write_bytes(b"name: proj\n" * (content[:1] != b"-") + content)
    line = place.split(":")
    if line[1].isdecimal() and content[:1] != b"-":
        line[1] = str(int(line[1]) + 1)
    with pytest.raises(WorkbenchError) as wrong:
        load_project(tmp_path, "dev")
    text = str(wrong.value)
    assert text.startswith(f"{tmp_path / name}{':'.join(line)}{reason}")
    assert "\n" not in text


@pytest.mark.parametrize("config", ["", "config:\n", "config: {}\n", "config:\n  proj:a: 2026-01-01\n"])
def test_files_that_are_not_broken(tmp_path: Path, config: str) -> None:
    write(tmp_path, {}, {})
    (tmp_path / "Pulumi.dev.yaml").write_text(config)
    assert load_project(tmp_path, "dev").config in ({}, {"proj:a": "2026-01-01"})


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file or directory"), (b"\xff\xfe", "not UTF-8 text")]
)
def test_a_passphrase_file_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "passphrase"
    if content is not None:
        file.write_bytes(content)
    write(tmp_path, {}, {"encryptionsalt": "v1:x:y", "config": {"proj:token": {"secure": "v1:a:b"}}})
    monkeypatch.delenv("PULUMI_CONFIG_PASSPHRASE", raising=False)
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE_FILE", str(file))
    with pytest.raises(WorkbenchError) as wrong:
        load_project(tmp_path, "dev")
    assert str(wrong.value).startswith(f"PULUMI_CONFIG_PASSPHRASE_FILE: {file} cannot be read: {reason}; ")


def test_disabled_default_providers(tmp_path: Path) -> None:
    write(tmp_path, {}, {"config": {"pulumi:disable-default-providers": ["kubernetes", "aws"]}})
    assert load_project(tmp_path, "dev").disabled_providers == {"kubernetes", "aws"}


def encrypted(passphrase: str, clear: str) -> tuple[str, str]:
    """As the CLI's passphrase provider: PBKDF2-HMAC-SHA256, a million rounds, AES-256-GCM."""
    import base64
    import hashlib

    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    salt, nonce = b"12345678", b"123456789012"
    key = hashlib.pbkdf2_hmac("sha256", passphrase.encode(), salt, 1_000_000, 32)
    text = [
        base64.b64encode(part).decode() for part in (salt, nonce, AESGCM(key).encrypt(nonce, clear.encode(), None))
    ]
    return f"v1:{text[0]}:v1:{text[1]}:check", f"v1:{text[1]}:{text[2]}"


def test_encrypted_values_within_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    salt, sealed = encrypted("right", "clear text")
    value = {"a": [{"secure": sealed}], "b": {"c": {"secure": sealed}, "d": 1}}
    write(tmp_path, {}, {"encryptionsalt": salt, "config": {"proj:map": value, "proj:open": {"d": 1}}})
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "right")
    project = load_project(tmp_path, "dev")
    assert json.loads(project.config["proj:map"]) == {"a": ["clear text"], "b": {"c": "clear text", "d": 1}}
    assert project.secret_keys == ("proj:map",)


def test_encrypted_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    salt, sealed = encrypted("right", "clear text")
    write(tmp_path, {}, {"encryptionsalt": salt, "config": {"proj:token": {"secure": sealed}}})
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "right")
    project = load_project(tmp_path, "dev")
    assert project.config["proj:token"] == "clear text"
    assert project.secret_keys == ("proj:token",)
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "wrong")
    # Also for checks that do not need the secret, so that every command has the same verdict.
    for is_sealed, offline in ((False, False), (True, True), (False, True)):
        with pytest.raises(WorkbenchError, match=r"^Pulumi\.dev\.yaml:2: proj:token: cannot be decrypted"):
            load_project(tmp_path, "dev", sealed=is_sealed, offline=offline)
    monkeypatch.delenv("PULUMI_CONFIG_PASSPHRASE")
    with pytest.raises(
        WorkbenchError, match=r"^Pulumi\.dev\.yaml:2: proj:token: is encrypted; set PULUMI_CONFIG_PASS"
    ):
        load_project(tmp_path, "dev")
    unread = load_project(tmp_path, "dev", offline=True)
    assert (unread.config["proj:token"], unread.secret_keys, unread.secrets) == (
        "[secret]", ("proj:token",), frozenset()
    )  # fmt: skip
