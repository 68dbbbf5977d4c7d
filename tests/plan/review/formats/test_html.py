"""The page as a document: well-formed, alone, and readable for everybody."""

import base64
import hashlib
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import pytest

from components.checks.memory.cases import Fit
from components.plan.review.review import ModelChange, Review
from tests.plan.review.formats.samples import ALONE, HEAD, NOTHING, WHOLE, model, verdict
from workbench.planning.formats.html import page
from workbench.planning.formats.html.page import html
from workbench.planning.formats.links import Links

STYLE = Path(page.__file__).with_name("style.css").read_text(encoding="utf-8")
REVIEWS = {"whole": WHOLE, "nothing": NOTHING, "alone": ALONE}


def document(review: Review) -> ET.Element:
    text = html(review)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    return ET.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


def words(element: ET.Element) -> str:
    return " ".join("".join(element.itertext()).split())


@pytest.mark.parametrize("name", REVIEWS)
def test_a_page_needs_nothing_else(name: str) -> None:
    text = html(REVIEWS[name])
    shown = text.replace("http://chat.models:8080", "").replace("http://embed.models:80", "")  # endpoints, as text
    assert not re.search(r"(https?:)?//\w|url\(|@import|<script|<link|<img|<iframe| style=", shown)
    root = document(REVIEWS[name])
    assert not [each for each in root.iter() if {"src", "href", "style"} & set(each.attrib)]


def test_the_policy_allows_the_style_of_the_page_and_nothing_else() -> None:
    root = document(WHOLE)
    policy = next(each.get("content", "") for each in root.iter("meta") if each.get("http-equiv"))
    (style,) = root.iter("style")
    digest = base64.b64encode(hashlib.sha256((style.text or "").encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]


@pytest.mark.parametrize("name", REVIEWS)
def test_a_page_can_be_read_aloud(name: str) -> None:
    root = document(REVIEWS[name])
    assert root.get("lang") == "en"
    assert len([*root.iter("h1")]) == len([*root.iter("main")]) == 1
    levels = [int(each.tag[1]) for each in root.iter() if re.fullmatch(r"h\d", each.tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels
    names = {each.get("id") for each in root.iter() if each.get("id")}
    for section in root.iter("section"):
        assert section.get("aria-labelledby") in names
    for table in root.iter("table"):
        (caption,) = table.iter("caption")
        assert words(caption)
        assert all(cell.get("scope") in ("col", "row") for cell in table.iter("th"))
        assert len({sum(cell.tag in ("td", "th") for cell in row) for row in table.iter("tr")}) == 1
    for svg in root.iter("svg"):
        assert svg.get("aria-hidden") == "true" or (svg.get("role") == "img" and svg.get("aria-label"))


def test_pictures_have_their_figures_as_text() -> None:
    labels = [svg.get("aria-label", "") for svg in document(WHOLE).iter("svg")]
    assert "Memory of one GPU: weights 40.0 GiB, cache 4.0 GiB, engine 2.0 GiB; 40.0 GiB usable" in labels
    assert "now: $730.00 → $1,460.00 (+$730.00)" in labels
    assert any("Deployment models/chat to g6e.2xlarge" in label or "to 4 x g6e.2xlarge" in label for label in labels)


@pytest.mark.parametrize(
    "text",
    [
        "does not pass 1 error is new",
        "was $730.00+$730.00",
        "does not fit exceeds 40.0 GiB by 6.0 GiB; before: fits, 20.0 GiB of 40.0 GiB left (50%)",
        "Playground/chat spec.replicas 46 GiB are needed of 40 memory-exceeded",
        "2 replicas restart: old ones stop first",
        "Playground/embed: not checked: nothing is known of example/embed",
        "cheapest types on which it would fit: g6e.12xlarge ($10.49 an hour)",
        "Upgrade of the operator: Example v1 → v2",
        "definitions: ~ CustomResourceDefinition things.example.com",
        "controllers act without them: Thing models/a: spec.old",
        "Ignored: measured on the real device",
        "prices of us-east-1 as of 2026-08-01",
    ],
)
def test_a_page_says(text: str) -> None:
    assert text in words(document(WHOLE))


def test_links_to_a_code_host_are_links() -> None:
    text = html(WHOLE, Links("https://github.com/o/r/blob/abc", "https://github.com/o/r/blob/abc/docs/findings.md"))
    assert 'href="https://github.com/o/r/blob/abc/models/chat.yaml#L9"' in text
    assert 'href="https://github.com/o/r/blob/abc/docs/findings.md#memory-exceeded"' in text


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


LIGHT, DARK = (colours(block) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2])


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_computed_as_the_guidelines_do() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)  # the well-known lightest grey that passes


STATES = ("good", "tight", "bad", "open", "changed")
TEXTS = [
    *product(("text", "muted", "link", *STATES), ("page", "raised")),
    *((state, f"{state}-page") for state in STATES),
    *(("text", f"{state}-page") for state in STATES),  # labels in the picture
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "behind"), TEXTS)
def test_text_can_be_read(text: str, behind: str, scheme: str) -> None:
    palette = {"light": LIGHT, "dark": DARK}[scheme]
    assert contrast(palette[text], palette[behind]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("bar", ["part-1", "part-2", "part-3", "part-4", "part-5", "part-6", "before"])
def test_bars_can_be_seen(bar: str, scheme: str) -> None:
    """3:1 for what is no text (WCAG 2.2, 1.4.11)."""
    palette = {"light": LIGHT, "dark": DARK}[scheme]
    assert contrast(palette[bar], palette["raised"]) >= 3
    assert contrast(palette[bar], palette["page"]) >= 3


def test_both_schemes_have_every_colour() -> None:
    assert set(LIGHT) == set(DARK)
    assert set(re.findall(r"var\(--([\w-]+)\)", STYLE)) == set(LIGHT)


def test_a_thousand_models_make_a_page_that_opens() -> None:
    models = tuple(model(f"m{place}", verdict(Fit.FITS, 20)) for place in range(1_000))
    review = replace(
        WHOLE, head=replace(HEAD, models=models), models=tuple(ModelChange(each, each) for each in models)
    )
    assert len(html(review)) < 4_000_000
