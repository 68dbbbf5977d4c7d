"""An installed browser, driven by Playwright, for the tests of pages: ``python -m tests.browsing`` looks for it.

Playwright's own browsers are not used: they are downloaded without a hash. Any Chromium, Chrome or Edge does.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

REQUIRED = "INFERENCE_PLATFORM_REQUIRE_BROWSER"
"""Variable with which a missing browser is a failure."""
_NAMES = (
    *("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome", "google-chrome-stable"),
    *("microsoft-edge", "microsoft-edge-stable", "headless_shell"),
)
_APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_OPTIONS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
_HEIGHT = 800
_WIDEST_PHONE = 600
Scheme = Literal["light", "dark"]


def installed() -> str | None:
    """Return the path of a browser, or None if there is none."""
    on_path = (path for name in _NAMES if (path := shutil.which(name)))
    return next(on_path, None) or next((path for path in _APPLICATIONS if Path(path).exists()), None)


class Window:
    """A window with one page."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._context: BrowserContext | None = None
        self.messages: list[str] = []
        """What the page wrote to its console, and errors of the browser about it."""

    @property
    def page(self) -> Page:
        assert self._context
        return self._context.pages[0]

    def open(self, url: str, width: int = 1280, scheme: Scheme = "light", height: int = _HEIGHT) -> None:
        """Show a page in a new window, without anything that another one stored."""
        self.close()
        phone = width < _WIDEST_PHONE
        self._context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            device_scale_factor=2 if phone else 1,
            is_mobile=phone,
        )
        self.messages.clear()
        page = self._context.new_page()
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("requestfailed", lambda request: self.messages.append(f"{request.url}: {request.failure}"))
        page.goto(url)

    def value(self, script: str) -> Any:
        """Return what an expression comes to, in the page."""
        return self.page.evaluate(script)

    def close(self) -> None:
        if self._context:
            self._context.close()
            self._context = None


@contextmanager
def opened_window() -> Iterator[Window]:
    """Start the installed browser; skip the test, or fail, where there is none."""
    program = installed()
    if program is None:
        missing = "no Chromium, Chrome or Edge is installed (as root on Debian: make browser)"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_OPTIONS)
        window = Window(browser)
        yield window
        window.close()
        browser.close()


if __name__ == "__main__":
    sys.exit(None if installed() else "no browser is installed")
