"""Kubeconfigs are read, or refused with the file and the field, without their secrets."""

import copy
import http.server
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from toolkit.certificates import self_signed
from toolkit.errors import UserError
from toolkit.kube import Kube, KubeError
from toolkit.kubeconfig import read, read_cluster_entry

SECRET = "sEcReT-0123456789"
GOOD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "default"}}],
    "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:6443"}}],
    "users": [{"name": "u", "user": {"token": SECRET}}],
    "preferences": {},
}
NAMES = ("current-context", "name", "cluster", "user", "contexts", "clusters", "users")
"""Where a name can stand."""
CLUSTER = ("clusters", 0, "cluster")
USER = ("users", 0, "user")


def changed(*edits: tuple[tuple[str | int, ...], Any]) -> dict[str, Any]:
    """The good kubeconfig with other values at some paths."""
    config = copy.deepcopy(GOOD)
    for path, value in edits:
        section: Any = config
        for step in path[:-1]:
            section = section[step]
        section[path[-1]] = value
    return config


def plugin(program: str, **more: Any) -> dict[str, Any]:
    command = {"command": sys.executable, "args": ["-c", program]}
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", **command, **more}}


ISSUES = 'import json; print(json.dumps({"kind": "ExecCredential", "status": {"token": "issued"}}))'


@pytest.mark.parametrize(
    ("user", "headers"),
    [
        ({"token": SECRET}, {"Authorization": f"Bearer {SECRET}"}),
        ({"username": "a", "password": "b"}, {"Authorization": "Basic YTpi"}),
        (plugin(ISSUES), {"Authorization": "Bearer issued"}),
        (plugin(ISSUES, env=[{"name": "X", "value": "1"}], installHint="x"), {"Authorization": "Bearer issued"}),
        ({}, {}),
        (None, {}),
    ],
)
def test_users(user: dict[str, Any] | None, headers: dict[str, str]) -> None:
    access = read(yaml.safe_dump(changed((USER, user))))
    assert (access.server, dict(access.headers)) == ("https://127.0.0.1:6443", headers)


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(changed((USER, {"tokenFile": "token"}))))
    assert read(path).headers == {"Authorization": f"Bearer {SECRET}"}


@pytest.mark.parametrize(("expected", "works"), [("api.internal", True), ("", False), ("other", False)])
def test_the_name_of_a_server_behind_a_tunnel(expected: str, works: bool, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path, "server", "api.internal")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.timeout = 5
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        address = f"https://127.0.0.1:{server.server_address[1]}"
        cluster = {"server": address, "certificate-authority": str(certificate), "tls-server-name": expected}
        kubeconfig = yaml.safe_dump(changed((CLUSTER, cluster)))
        with Kube.from_kubeconfig(kubeconfig) as kube, pytest.raises(KubeError) as answer:
            kube.list("v1", "Pod")
        thread.join()
    # The handler has no method for GET.
    assert answer.value.status == (501 if works else 0)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(b"\xef\xbb\xbf" + yaml.safe_dump(GOOD).encode())
    assert read_cluster_entry(path).name == "k"


@pytest.mark.parametrize(
    ("edits", "field", "reason"),
    [
        ([(("contexts",), ["c"])], "contexts[0]", "must be a map"),
        ([(("contexts",), {"c": {}})], "contexts", "must be a list"),
        ([(("contexts", 0, "name"), 7)], "contexts[0].name", "must be text"),
        ([(("contexts", 0), {"context": {}})], "contexts[0].name", "is missing"),
        ([(("contexts",), None)], "", "has no context 'c'; it has none"),
        ([(("current-context",), None)], "", "has no current-context"),
        ([(("current-context",), "d")], "", "has no context 'd'; it has c"),
        ([(("contexts", 0, "context", "cluster"), "z")], "", "has no cluster 'z'; it has k"),
        ([(("contexts", 0, "context", "user"), "z")], "", "has no user 'z'; it has u"),
        ([(CLUSTER, None)], "clusters[k].cluster.server", "is missing"),
        ([((*CLUSTER, "server"), "https://127.0.0.1:99999")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "server"), "https://[::1")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "server"), "127.0.0.1:6443")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "server"), f"https://me:{SECRET}@127.0.0.1")], "clusters[k].cluster.server", "contains a user"),
        ([((*CLUSTER, "server"), "https://a b")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "server"), "https://a..b")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "server"), f"https://{'a' * 64}.b")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "server"), "https://a/\u202e")], "clusters[k].cluster.server", "must be an address"),
        ([((*CLUSTER, "insecure-skip-tls-verify"), "yes")], "insecure-skip-tls-verify", "must be true"),
        ([((*CLUSTER, "certificate-authority-data"), "!!!")], "certificate-authority-data", "is not base64"),
        ([((*CLUSTER, "certificate-authority-data"), "eA==")], "certificate-authority", "holds no certificate"),
        ([((*CLUSTER, "certificate-authority"), "/nowhere/ca")], "certificate-authority", "cannot be read"),
        ([((*CLUSTER, "certificate-authority"), "a\0b")], "certificate-authority", "cannot be read"),
        ([((*CLUSTER, "proxy-url"), "http://127.0.0.1:1")], "clusters[k].cluster.proxy-url", "is not supported"),
        ([((*USER, "as"), "root")], "users[u].user.as", "is not supported"),
        ([((*USER, "auth-provider"), {"name": "gcp"})], "users[u].user.auth-provider", "is not supported"),
        ([((*USER, "token"), f"{SECRET}\nX: y")], "users[u].user.token", "has characters"),
        ([((*USER, "token"), {SECRET: 1})], "users[0].user.token", "must be text"),
        ([(USER, {"tokenFile": "/nowhere/token"})], "users[u].user.tokenFile", "cannot be read"),
        ([(USER, {"client-certificate-data": "eA==", "client-key-data": "eA=="})], "client-certificate", "no cert"),
        ([(USER, {"exec": {"command": "/nowhere/x", "args": [SECRET]}})], "user.exec", "/nowhere/x failed: No such"),
        ([(USER, {"exec": {"args": [SECRET]}})], "users[0].user.exec.command", "is missing"),
        ([(USER, plugin(f"print({SECRET!r})"))], "users[u].user.exec", "did not print an ExecCredential"),
        ([(USER, plugin("print('{\"status\": 1}')"))], "users[u].user.exec", "did not print an ExecCredential"),
        ([(USER, plugin("import sys; sys.exit('no session')"))], "users[u].user.exec", "exit code 1: no session"),
        ([(USER, plugin("import sys; sys.stdout.buffer.write(b'\\xff')"))], "users[u].user.exec", "not text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(edits: list[tuple[Any, Any]], field: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(changed(*edits)))
    with pytest.raises(UserError) as wrong:
        read(path)
    text = str(wrong.value)
    assert text.startswith(str(path))
    assert field in text
    assert reason in text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"users:\n- name: u\n  user:\n    token: a: sEcReT-0123456789\n", ":4:13: not valid YAML"),
        (b"token: *sEcReT-0123456789\n", ":1:8: not valid YAML"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"", "is not a kubeconfig"),
        (b"- 1", "is not a kubeconfig"),
        (b"a: 2026-99-99", "not valid YAML"),
        (b"a: \x07", "not valid YAML"),
    ],
)
def test_other_files(content: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)
    with pytest.raises(UserError) as wrong:
        read(path)
    assert reason in str(wrong.value)
    assert SECRET not in str(wrong.value)


def paths(value: Any, before: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every path of the good kubeconfig."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*before, key)
        yield from paths(inner, (*before, key))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(SECRET),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "server", "token"]), inner),
    max_leaves=4,
)


@given(st.sampled_from([*paths(GOOD)]), VALUES)
def test_any_value_is_read_or_refused(path: tuple[str | int, ...], value: Any) -> None:
    message = ""
    try:
        read(yaml.safe_dump(changed((path, value))))
    except UserError as error:
        message = str(error)
    # Names are not secret: messages tell which ones there are.
    assert SECRET not in message or path[-1] in (
        "current-context",
        "name",
        "cluster",
        "user",
        "contexts",
        "clusters",
        "users",
    )
