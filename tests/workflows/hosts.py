"""A stand-in for the REST interfaces of GitHub and GitLab: the few endpoints that are used, on loopback.

It answers as their documentation says (GitHub Docs, "REST API endpoints for issue comments" and "for pull
requests", "Using pagination"; GitLab Docs, "Notes API", "Users API", "Pagination") and refuses what they refuse: a
wrong token, a text that is too long, a method that they do not have.
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "a-token-of-the-test"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
LONGEST = 65_536
_PAGE = 2
"""Comments of a page: few, so that every test turns pages."""

Json = dict[str, Any]


@dataclass
class Host:
    """What the host knows, and what it was asked.

    Attributes:
        pulls: Pull requests of GitHub, by number.
        comments: Under each pull or merge request, in order of their ids.
        requests: Method and path of each request.
        failures: Statuses with which the next requests are answered, before anything else happens.
        elsewhere: Where the next page is said to be; nothing for the right place.
    """

    url: str = ""
    pulls: dict[int, Json] = field(default_factory=dict)
    comments: dict[int, list[Json]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    failures: list[int] = field(default_factory=list)
    elsewhere: str = ""
    me: Json = field(default_factory=lambda: {"id": 41, "username": "project_1_bot"})
    last: int = 100

    def add(self, pull: int, body: str, **author: Any) -> Json:
        """Let somebody comment."""
        self.last += 1
        made = {"id": self.last, "body": body, **author}
        self.comments.setdefault(pull, []).append(made)
        return made

    @property
    def writes(self) -> list[str]:
        """The methods of the requests that changed something."""
        return [method for method, _ in self.requests if method != "GET"]

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Json) -> tuple[int, Any, str]:
        """Return status, answer and Link header."""
        if found := re.fullmatch(r"/repos/acme/models/pulls/(\d+)", path):
            pull = self.pulls.get(int(found[1]))
            return (200, pull, "") if pull else (404, {"message": "Not Found"}, "")
        if path == "/user":
            return 200, self.me, ""
        if found := re.fullmatch(
            r"/(?:repos/acme/models/issues|projects/5/merge_requests)/(\d+)/(?:comments|notes)", path
        ):
            return self._list(method, path, int(found[1]), query, body)
        if found := re.fullmatch(r"/repos/acme/models/issues/comments/(\d+)", path):
            return self._one(method, int(found[1]), body, "PATCH")
        if found := re.fullmatch(r"/projects/5/merge_requests/\d+/notes/(\d+)", path):
            return self._one(method, int(found[1]), body, "PUT")
        return 404, {"message": "Not Found"}, ""

    def _list(
        self, method: str, path: str, pull: int, query: dict[str, list[str]], body: Json
    ) -> tuple[int, Any, str]:
        if method == "POST":
            if len(body["body"]) > LONGEST and path.startswith("/repos"):
                return 422, {"message": "Validation Failed: body is too long"}, ""
            author = {"user": BOT} if path.startswith("/repos") else {"author": self.me, "system": False}
            return 201, self.add(pull, body["body"], **author), ""
        page = int(query.get("page", ["1"])[0])
        found = self.comments.get(pull, [])
        more = len(found) > page * _PAGE
        where = self.elsewhere or f"{self.url}{path}"
        link = f'<{where}?page={page + 1}>; rel="next", <{where}?page=9>; rel="last"' if more else ""
        return 200, found[(page - 1) * _PAGE : page * _PAGE], link

    def _one(self, method: str, number: int, body: Json, change: str) -> tuple[int, Any, str]:
        for comments in self.comments.values():
            for comment in comments:
                if comment["id"] == number and method == "DELETE":
                    comments.remove(comment)
                    return 204, None, ""
                if comment["id"] == number and method == change:
                    comment["body"] = body["body"]
                    return 200, comment, ""
        return 404, {"message": "Not Found"}, ""


def _handler(host: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"{}")
            asked = urlsplit(self.path)
            host.requests.append((self.command, asked.path))
            known = TOKEN in (
                self.headers.get("Authorization", "").removeprefix("Bearer "),
                self.headers.get("PRIVATE-TOKEN"),
            )
            if host.failures:
                status, answer, link = host.failures.pop(0), {"message": "later"}, ""
            elif not known:
                status, answer, link = 401, {"message": "Bad credentials"}, ""
            else:
                status, answer, link = host.answer(self.command, asked.path, parse_qs(asked.query), body)
            self._send(status, answer, link)

        def _send(self, status: int, answer: Any, link: str) -> None:
            data = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", f"{host.url}/user")
            if link:
                self.send_header("Link", link)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def hosting() -> Iterator[Host]:
    """Run the stand-in until the end."""
    host = Host()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(host))
    host.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
