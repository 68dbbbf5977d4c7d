"""The site: every link leads somewhere, nothing comes from another host, and the search finds what users look for."""

import json
import re
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
from tests.browsing import Scheme, Window
from tests.documentation.screenshots import served
from tests.layers.modules import ROOT

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


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_in_a_browser(window: Window, address: str, width: int, scheme: Scheme) -> None:
    for page in PAGES:
        window.open(address + page, width, scheme)
        assert window.messages == [], page
        assert window.value("document.documentElement.scrollWidth") <= width, page
        assert window.value("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
        assert window.value(FAINT) == [], page


FAINT = r"""(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = color => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = (top, under) => [0, 1, 2].map(i => (top[i] * top[3] + under[i] * (255 - top[3])) / 255);
  const ancestors = element => element ? [element, ...ancestors(element.parentElement)] : [];
  const background = element => ancestors(element).map(each => rgba(getComputedStyle(each).backgroundColor))
    .reduceRight((under, top) => over(top, under), [255, 255, 255]);
  const luminance = color => {
    const [r, g, b] = color.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), faint = [];
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const isShown = element.checkVisibility({opacityProperty: true, visibilityProperty: true});
    if (!texts.currentNode.data.trim() || !isShown || box.width < 2 || box.height < 2) continue;
    const under = background(element), color = rgba(style.color);
    color[3] *= ancestors(element).reduce((share, each) => share * getComputedStyle(each).opacity, 1);
    const [dark, light] = [luminance(over(color, under)), luminance(under)].sort((a, b) => a - b);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < (isLarge ? 3 : 4.5)) faint.push([contrast, element.className, texts.currentNode.data.trim()]);
  }
  return faint;
})()"""
"""Visible texts whose contrast is too low (WCAG 2.2, 1.4.3), with the contrast."""


def test_a_faint_text_is_noticed(window: Window, address: str) -> None:
    window.open(address + "plan/")
    window.value("document.querySelector('article p').style.color = '#888'")
    assert len(window.value(FAINT)) > 0


FOCUSED = """(() => {
  const element = document.activeElement;
  // The switch of the color scheme is a hidden input, and the label after it shows the focus.
  const shown = element.tagName === 'INPUT' ? element.nextElementSibling : element;
  const style = getComputedStyle(shown);
  return [element.getAttribute('aria-label') || element.textContent.trim(), style.outlineStyle !== 'none'];
})()"""


def test_a_page_can_be_used_with_the_keyboard(window: Window, address: str) -> None:
    window.open(address + "start/five-minutes/")
    focused = []
    for _ in range(20):
        window.page.keyboard.press("Tab")
        focused.append(window.value(FOCUSED))
    assert [name for name, is_marked in focused if not is_marked] == []
    names = [name for name, _ in focused]
    assert names[0] == "Skip to content"
    assert {"Search", "Tasks", "Reference"} <= set(names)


def test_the_content_is_the_next_stop_after_skipping_to_it(window: Window, address: str) -> None:
    window.open(address + "start/five-minutes/")
    window.page.keyboard.press("Tab")
    window.value("document.activeElement.click()")
    window.page.keyboard.press("Tab")
    assert window.value("Boolean(document.activeElement.closest('article'))")


def test_the_search_answers_within_three_pages(window: Window, address: str) -> None:
    window.open(address + "plan/")
    host = "[...document.querySelectorAll('*')].find(each => each.shadowRoot)"
    _until(window, f"Boolean({host})", click="document.querySelector('.md-search__button').click()")
    links = f"[...{host}.shadowRoot.querySelectorAll('ol a')].map(each => each.href)"
    missed = {}
    for question, pages in QUESTIONS.items():
        window.value(f"{host}.shadowRoot.querySelector('input').focus()")
        window.value(f"{host}.shadowRoot.querySelector('input').select()")
        window.page.keyboard.insert_text(question)
        word = re.split(r"[\s:-]", question)[0]
        _until(window, f"{links}[0]?.toLowerCase().includes('h={word.lower()}')")
        # The results of the whole text follow those of its first letters.
        before, results = None, window.value(links)
        while results != before:
            time.sleep(0.3)
            before, results = results, window.value(links)
        found = list(dict.fromkeys(urlsplit(link).path.strip("/") for link in results))[:3]
        if not set(pages.split()) & set(found):
            missed[question] = found
    assert missed == {}
    assert window.messages == []


def _until(window: Window, condition: str, click: str = "null") -> None:
    for _ in range(600):
        window.value(click)
        if window.value(condition):
            return
        time.sleep(0.1)
    pytest.fail(f"not so within a minute: {condition}")
