"""The site: every link leads somewhere, nothing comes from another host, and the search finds what users look for."""

import functools
import http.server
import json
import re
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from components.contract.field_reference import field_references
from components.contract.findings.registry import rules
from components.families import kinds
from documentation.site import build
from tests.layers.modules import ROOT
from tests.plan.review.formats.browser import Browser, browser, installed

PAGES = (
    "",
    "plan/",
    "findings/memory-exceeded/",
    "fields/llmkube/InferenceService/",
    "components/Playground/",
    "settings/",
)
QUESTIONS = {
    "five minutes": "start/five-minutes",
    "first model on EKS": "start/eks",
    "existing cluster": "start/existing-cluster",
    "fit gpu": "tasks/size-a-model",
    "size a model": "tasks/size-a-model",
    "latency target": "llmd sizing",
    "control cost": "tasks/control-cost",
    "scale to zero": "tasks/scale-to-zero",
    "spot": "tasks/spot",
    "capacity block": "tasks/reserved-capacity",
    "EFA": "tasks/multi-node components/EfaDevicePlugin",
    "lora": "tasks/lora components/LoRAAdapter fields/llmkube/LoRAAdapter",
    "hugging face token": "tasks/gated-weights",
    "private API server": "tasks/private-api-server",
    "api key": "tasks/tls-and-keys",
    "upgrade a cluster": "tasks/upgrade-a-cluster",
    "pull request": "pull-requests",
    "image cache": "components/ImageCache tasks/air-gap",
    "flashAttention": "fields/llmkube/InferenceService",
    "ModelFleet": "components/ModelFleet",
    "inference-platform:frontDoor": "settings",
    "memory-tight": "findings/memory-tight",
    "simulate autoscaler": "simulate",
    "migrate kthena": "kthena releases",
    "price file": "costs",
    "ignore a finding": "findings",
    "KEDA": "components/Keda",
    "grafana": "components/Prometheus prerequisites",
    "TypeScript": "plugin",
    "load test": "load",
}
"""What a new user would type, and the pages of which one must be among the first three that are listed."""


class Links(HTMLParser):
    """The links, the ids and the resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.resources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids |= {values["id"]} if "id" in values else set()
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        is_resource = tag == "link" and values.get("rel") in ("stylesheet", "icon", "preload", "preconnect")
        if "src" in values or is_resource:
            self.resources.append(values.get("src") or values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    assert build(ROOT, output) == 0
    return output / "public"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Links]:
    files = [file for file in site.rglob("*.html") if file.name != "404.html"]
    return {file.relative_to(site).as_posix(): Links(file.read_text(encoding="utf-8")) for file in files}


def broken(page: str, link: str, pages: dict[str, Links], site: Path) -> str:
    """Why a link leads nowhere; empty if it does not, or leaves the site."""
    target, anchor = urldefrag(urljoin(f"http://site/{page}", link))
    if urlsplit(target).netloc != "site":
        return ""
    path = unquote(urlsplit(target).path).lstrip("/")
    file = site / path
    if file.is_dir():
        file /= "index.html"
    if not file.is_file():
        return f"{page}: {link}: no such file"
    found = pages.get(file.relative_to(site).as_posix())
    return f"{page}: {link}: no such section" if anchor and found and unquote(anchor) not in found.ids else ""


def test_every_link_leads_somewhere(site: Path, pages: dict[str, Links]) -> None:
    assert len(pages) > 200
    found = [
        reason for page, links in pages.items() for link in links.links if (reason := broken(page, link, pages, site))
    ]
    assert sorted(set(found)) == []


def test_a_broken_link_is_noticed(site: Path, pages: dict[str, Links]) -> None:
    assert broken("plan/index.html", "../nowhere/", pages, site).endswith("no such file")
    assert broken("plan/index.html", "../findings/#nowhere", pages, site).endswith("no such section")


def test_nothing_comes_from_another_host(pages: dict[str, Links]) -> None:
    hosts = {urlsplit(resource).netloc for links in pages.values() for resource in links.resources}
    assert hosts == {""}


def test_every_page_has_its_markdown_and_is_in_the_index_for_models(site: Path, pages: dict[str, Links]) -> None:
    index = (site / "llms.txt").read_text(encoding="utf-8")
    listed = re.findall(r"\]\(([^)]+\.md)\)", index)
    assert all((site / path).is_file() for path in listed)
    as_html = {re.sub(r"/(README|index)/", "/", f"/{path.removesuffix('.md')}/index.html")[1:] for path in listed}
    assert pages.keys() == as_html


def test_every_schema_is_json(site: Path) -> None:
    schemas = list((site / "schemas").rglob("*.json"))
    assert {"settings.json", "plan.json", "prices.json", "InferenceService.json"} <= {file.name for file in schemas}
    assert all("$schema" in json.loads(file.read_text(encoding="utf-8")) for file in schemas)


def test_the_search_knows_every_finding_setting_and_field(site: Path) -> None:
    items = json.loads((site / "search.json").read_text(encoding="utf-8"))["items"]
    titles = {re.sub(r"<[^>]+>", "", item["title"]) for item in items}
    settings = json.loads((ROOT / "stacks/settings.schema.json").read_text(encoding="utf-8"))
    assert {str(rule) for rule in rules()} <= titles
    assert settings["properties"]["config"]["properties"].keys() <= titles
    assert {each.path for kind in kinds() for each in field_references(kind)} <= titles


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = installed()
    if program is None:
        pytest.skip("no browser on the PATH; links, resources and the search index are checked without one")
    with browser(program, tmp_path_factory.mktemp("browser")) as found:
        yield found


def show(window: Browser, url: str, width: int = 1280, scheme: str = "light") -> None:
    window.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
    window.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    window.said.clear()
    window.ask("Page.navigate", url=url)
    window.wait("Page.loadEventFired")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_in_a_browser(window: Browser, address: str, width: int, scheme: str) -> None:
    for page in PAGES:
        show(window, address + page, width, scheme)
        assert window.said == [], page
        assert window.value("document.documentElement.scrollWidth") <= width, page
        assert contrast(window) >= 4.5, page


def contrast(window: Browser) -> float:
    """The contrast of text and background (WCAG 2.2, 1.4.3)."""
    colors = window.value(
        """(() => {
          const canvas = document.createElement('canvas').getContext('2d');
          const rgb = color => { canvas.fillStyle = '#fff'; canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3); };
          const text = document.querySelector('article p, article h1');
          return [rgb(getComputedStyle(document.body).backgroundColor), rgb(getComputedStyle(text).color)];
        })()"""
    )
    lights = sorted(map(luminance, colors))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(color: list[int]) -> float:
    parts = [part / 255 for part in color]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_search_answers_within_three_pages(window: Browser, address: str) -> None:
    show(window, address + "plan/")
    host = "[...document.querySelectorAll('*')].find(each => each.shadowRoot)"
    _until(window, f"Boolean({host})", click="document.querySelector('.md-search__button').click()")
    links = f"[...{host}.shadowRoot.querySelectorAll('ol a')].map(each => each.href)"
    missed = {}
    for question, pages in QUESTIONS.items():
        window.value(f"{host}.shadowRoot.querySelector('input').focus()")
        window.value(f"{host}.shadowRoot.querySelector('input').select()")
        window.ask("Input.insertText", text=question)
        word = re.split(r"[\s:-]", question)[0]
        _until(window, f"{links}[0]?.toLowerCase().includes('h={word.lower()}')")
        time.sleep(0.3)  # the results of the whole text follow those of its first letters
        found = list(dict.fromkeys(urlsplit(link).path.strip("/") for link in window.value(links)))[:3]
        if not set(pages.split()) & set(found):
            missed[question] = found
    assert missed == {}
    assert window.said == []


def _until(window: Browser, condition: str, click: str = "null") -> None:
    for _ in range(600):
        window.value(click)
        if window.value(condition):
            return
        time.sleep(0.1)
    pytest.fail(f"not so within a minute: {condition}")
