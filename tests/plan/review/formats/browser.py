"""A real browser, spoken to through its debugging pipe (Chrome DevTools Protocol): no driver, no port, no network."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless_shell")


def installed() -> str | None:
    """Return the path of a browser; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A browser with one page."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._number, self._left = 0, b""
        self.session = ""
        self.said: list[str] = []
        """What the page wrote to its console, and what the browser says against it."""

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer; what happens meanwhile is remembered."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._requests, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                assert "error" not in found, found["error"]
                result: dict[str, Any] = found["result"]
                return result
            self._note(found)

    def wait(self, event: str) -> None:
        """Wait until something happened."""
        while (found := self._next()).get("method") != event:
            self._note(found)

    def value(self, script: str) -> Any:
        """Return what a script comes to, in the page."""
        return self.ask("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def open(self, path: Path, width: int, scheme: str) -> None:
        """Show a file in a window of some width, light or dark."""
        phone = width < 600
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.said.clear()
        self.ask("Page.navigate", url=path.as_uri())
        self.wait("Page.loadEventFired")

    def picture(self, path: Path) -> None:
        """Save the whole page as a picture."""
        found = self.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            read = os.read(self._answers, 1 << 16)
            assert read, "the browser has ended"
            self._left += read
        message, _, self._left = self._left.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _note(self, found: dict[str, Any]) -> None:
        if found.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.said.append(json.dumps(found["params"]))


@contextmanager
def browser(program: str, folder: Path) -> Iterator[Browser]:
    """Start a browser with a profile of its own, and end it."""
    requests, sent = os.pipe()
    received, answers = os.pipe()
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
    # The protocol reads from descriptor 3 and writes to 4; a shell gives them these numbers.
    line = f'exec "$0" "$@" 3<&{requests} 4>&{answers}'
    command = [
        "bash",
        "-c",
        line,
        program,
        *options,
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
        "about:blank",
    ]
    process = subprocess.Popen(
        command, pass_fds=(requests, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    for end in (requests, answers):
        os.close(end)
    try:
        yield _with_page(Browser(sent, received))
    finally:
        for end in (sent, received):
            os.close(end)
        process.terminate()
        process.wait(30)


def _with_page(found: Browser) -> Browser:
    targets = found.ask("Target.getTargets")["targetInfos"]
    page = next(target["targetId"] for target in targets if target["type"] == "page")
    found.session = found.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        found.ask(f"{domain}.enable")
    return found
