"""Elements of SVG: what is written in them is escaped by the library that writes them."""

from xml.etree.ElementTree import Element, SubElement, tostring

from components.contract.texts.printable import printable


def drawing(name: str, **attributes: str | int) -> Element:
    """Return an empty drawing with a name for those who do not see it."""
    return Element("svg", {"role": "img", "aria-label": printable(name), **_texts(attributes)})


def shape(parent: Element, tag: str, text: str = "", **attributes: str | float) -> Element:
    """Add an element."""
    element = SubElement(parent, tag, _texts(attributes))
    element.text = printable(text) or None
    return element


def written(svg: Element) -> str:
    """Return a drawing as it stands in a page."""
    return tostring(svg, encoding="unicode")


def percent(part: float, of: float) -> str:
    """Return a length as a share of the whole; digits that nobody sees are left out."""
    return f"{100 * part / of:.2f}%" if of > 0 else "0%"


def _texts(attributes: dict[str, str | int] | dict[str, str | float]) -> dict[str, str]:
    return {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items()}
