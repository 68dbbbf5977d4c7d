"""Takes the pictures of pages in docs/pictures: ``make screenshots``.

Each page at the widths of a laptop and of a phone, light and dark, as far as the first screen.
"""

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from documentation.site import build
from livefleet.load.page import page as load_page
from tests.browsing import Scheme, opened_window
from tests.layers.modules import ROOT
from tests.livefleet.load.fleet.figures import burst

FOLDER = ROOT / "docs/pictures"
SIZES = {1280: 800, 390: 844}
"""Widths of a laptop and of a phone, each with its height."""
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
SITE = {"start": "", "page": "findings/memory-exceeded/"}
"""Pages of the site, by the names of their pictures."""
REPORTS = ("plan", "inspect", "load")
COMMANDS = {
    "plan": ("plan", "--stack", "prod"),
    "inspect": ("inspect", "--from", "stacks/models"),
}
_COLORS = 48
"""Colors of a picture: enough for flat pages, in a third of the size."""


def picture_name(page: str, width: int, scheme: Scheme) -> str:
    return f"{page}-{width}-{scheme}.png"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on loopback, and yield its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def write_reports(folder: Path) -> None:
    """Write the reports as users get them, and a load with a fleet from recorded figures."""
    for name, words in COMMANDS.items():
        saved = str(folder / f"{name}.html")
        output = ("--output", "html") if name == "inspect" else ()
        command = [sys.executable, "-m", "workbench", *words, *output, "--save", saved]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    clients, fleet = burst()
    text = load_page(clients, fleet, "qwen at http://127.0.0.1:4001/v1, simulated")
    (folder / "load.html").write_text(text, encoding="utf-8")


def take(target: Path) -> None:
    """Take all pictures."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        if build(ROOT, folder / "site"):
            sys.exit("the site could not be built")
        write_reports(folder)
        with served(folder / "site/public") as address, opened_window() as window:
            urls = {
                **{page: address + path for page, path in SITE.items()},
                **{report: (folder / f"{report}.html").as_uri() for report in REPORTS},
            }
            for page, url in urls.items():
                for width, height in SIZES.items():
                    for scheme in SCHEMES:
                        path = target / picture_name(page, width, scheme)
                        window.open(url, width, scheme, height)
                        window.page.screenshot(path=path)
                        _reduce(path)


def _reduce(path: Path) -> None:
    with Image.open(path) as image:
        image.convert("RGB").quantize(_COLORS).save(path, optimize=True)


if __name__ == "__main__":
    take(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
