"""A client for the REST API of a code host: JSON, pagination and retries, without redirects."""

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from typing import IO, Any

from .errors import PipelineError

_SECONDS = 30.0
_TRIES = 4
_TEMPORARY = {HTTPStatus.TOO_MANY_REQUESTS, 500, 502, 503, 504}
_MOST_PAGES = 100
_MOST_BYTES = 32 * 2**20
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects, because urllib would send the token to their targets."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        """Return None, which makes urllib raise the response as an error."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A client.

    Attributes:
        url: Base URL of the API, without a trailing slash.
        headers: Headers of each request, including the token.
        pause: Seconds before the first retry, doubled for each further one.
    """

    url: str
    headers: Mapping[str, str] = field(repr=False)
    pause: float = 2.0

    def get(self, path: str) -> Any:  # noqa: ANN401  any JSON
        return self._send("GET", self._at(path))[0]

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
        return self._send(method, self._at(path), body)[0]

    def pages(self, path: str) -> Iterator[Any]:
        """Yield the items of all pages of a list.

        Raises:
            PipelineError: there are too many pages.
        """
        address: str | None = self._at(path)
        for _ in range(_MOST_PAGES):
            if address is None:
                return
            items, link = self._send("GET", address)
            yield from items
            next_page = _NEXT.search(link)
            address = next_page[1] if next_page else None
            if address and not address.startswith(f"{self.url}/"):
                raise PipelineError(f"the next page of {path} is on another host; check the URL of the API")
        raise PipelineError(f"{path} has more than {_MOST_PAGES} pages")

    def _at(self, path: str) -> str:
        if not self.url.startswith(("https://", "http://")):
            raise PipelineError(f"the URL of the API is {self.url!r}, and must start with https://")
        return f"{self.url}/{path.lstrip('/')}"

    def _send(self, method: str, address: str, body: Mapping[str, Any] | None = None) -> tuple[Any, str]:
        """Return the response and its Link header; retry on temporary errors."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers}
        request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310  http(s) only: _at
        pause = self.pause
        for retries_left in reversed(range(_TRIES)):
            try:
                with urllib.request.build_opener(_NoRedirects).open(request, timeout=_SECONDS) as response:
                    text = response.read(_MOST_BYTES)
                    return (json.loads(text) if text else None), response.headers.get("Link", "")
            except urllib.error.HTTPError as error:
                if error.code not in _TEMPORARY or not retries_left:
                    raise PipelineError(f"{method} {address} answers {error.code}: {_reason(error)}") from None
            except OSError as error:
                # An aborted request may have been executed, and repeating a POST could create a second object.
                if method == "POST" or not retries_left:
                    raise PipelineError(f"{method} {address} failed: {error}") from None
            except ValueError:
                raise PipelineError(f"{method} {address} did not return JSON") from None
            time.sleep(pause)
            pause *= 2
        raise AssertionError(method)


def _reason(error: urllib.error.HTTPError) -> str:
    text = error.read(2000).decode("utf-8", "replace")
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        message = text or error.reason
    return " ".join(str(message).split())
