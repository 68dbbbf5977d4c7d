"""The client: what it repeats, what it refuses, and that the token goes nowhere else."""

import dataclasses

import pytest

from ci.errors import PipelineError
from ci.github import github
from ci.rest import Rest
from tests.workflows.hosts import TOKEN, Host


def client(host: Host, token: str = TOKEN) -> Rest:
    return dataclasses.replace(github(host.url, token), pause=0.0)


def test_pages_are_turned(host: Host) -> None:
    for number in range(5):
        host.add(7, f"comment {number}")
    found = [each["body"] for each in client(host).pages("repos/acme/models/issues/7/comments?per_page=100")]
    assert found == [f"comment {number}" for number in range(5)]


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_a_host_cannot_do_now_is_tried_again(host: Host, status: int) -> None:
    host.failures = [status] * 3
    assert client(host).get("user") == host.me
    host.failures = [status] * 4
    with pytest.raises(PipelineError, match=rf"GET {host.url}/user answers {status}: later"):
        client(host).get("user")


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_what_a_host_refuses_is_not(host: Host, status: int) -> None:
    host.failures = [status]
    with pytest.raises(PipelineError, match=f"answers {status}"):
        client(host).get("user")
    assert len(host.requests) == 1


def test_a_wrong_token_is_told_without_it(host: Host) -> None:
    with pytest.raises(PipelineError, match="answers 401: Bad credentials") as caught:
        client(host, "secret-token").get("user")
    assert "secret-token" not in f"{caught.value} {client(host, 'secret-token')!r}"


@pytest.mark.parametrize("status", [301, 302, 307])
def test_no_redirect_is_followed(host: Host, status: int) -> None:
    """urllib would take the token along."""
    host.failures = [status]
    with pytest.raises(PipelineError, match=f"answers {status}"):
        client(host).get("repos/acme/models/pulls/7")
    assert [path for _, path in host.requests] == ["/repos/acme/models/pulls/7"]


def test_no_page_at_another_host(host: Host) -> None:
    for _ in range(3):
        host.add(7, "x")
    host.elsewhere = "http://127.0.0.1:9/evil"
    with pytest.raises(PipelineError, match="on another host"):
        list(client(host).pages("repos/acme/models/issues/7/comments"))


@pytest.mark.parametrize("url", ["file:///etc", "ftp://a", "", "github.com"])
def test_only_the_web_is_asked(url: str) -> None:
    with pytest.raises(PipelineError, match="must start with https://"):
        github(url, TOKEN).get("passwd")


def test_a_host_that_is_not_there(host: Host) -> None:
    gone = dataclasses.replace(client(host), url="http://127.0.0.1:9")
    with pytest.raises(PipelineError, match=r"GET http://127\.0\.0\.1:9/user failed"):
        gone.get("user")
    with pytest.raises(PipelineError, match=r"POST http://127\.0\.0\.1:9/user failed"):
        gone.send("POST", "user", {})
