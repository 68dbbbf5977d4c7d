"""Validation of names, labels, and annotations as in Kubernetes (``k8s.io/apimachinery/pkg/util/validation``)."""

import datetime
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from .base import Json, Violation

LABEL_LENGTH = 63
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z", re.ASCII)
_NOT_IN_LABELS = re.compile(r"[^a-z0-9]+")
_DNS1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z", re.ASCII)
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]\Z", re.ASCII)
_RFC3339 = re.compile(r"[0-9-]{10}T[0-9:]{8}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})\Z", re.ASCII)
ANNOTATIONS_MAX_BYTES = 256 * 1024


def is_dns1123_label(text: str) -> bool:
    """Lower-case letters, digits and ``-``; at most 63 characters."""
    return len(text) <= LABEL_LENGTH and LABEL.match(text) is not None


def is_dns1035_label(text: str) -> bool:
    """A DNS-1123 label that starts with a letter."""
    return len(text) <= LABEL_LENGTH and _DNS1035.match(text) is not None


def is_dns1123_subdomain(text: str) -> bool:
    """DNS-1123 labels joined by dots; at most 253 characters."""
    return len(text) <= 253 and _SUBDOMAIN.match(text) is not None


@functools.lru_cache(maxsize=1024)  # related objects have the same labels
def is_label_value(text: str) -> bool:
    """Empty, or letters, digits, ``-_.`` between letters or digits; at most 63 characters."""
    return len(text) <= LABEL_LENGTH and (not text or _QUALIFIED.match(text) is not None)


@functools.lru_cache(maxsize=1024)  # a fleet has few distinct keys, each many times
def is_qualified_name(text: str) -> bool:
    """A label key: ``name`` or ``prefix.example.com/name``."""
    prefix, slash, name = text.rpartition("/")
    if slash and (not prefix or not is_dns1123_subdomain(prefix)):
        return False
    return 0 < len(name) <= 63 and _QUALIFIED.match(name) is not None


def dns_label(field: str) -> Callable[[Any], Iterator[Violation]]:
    """Return a check that a field, if set, is a DNS-1123 label."""

    def broken(owner: Json) -> Iterator[Violation]:
        value = getattr(owner, field)
        if value is not None and not is_dns1123_label(value):
            yield (field,), f", found {value!r}{label_hint(value)}"

    return broken


def label_hint(text: str) -> str:
    """Return the end of a message that suggests a DNS-1123 label for a text; empty if there is none."""
    label = _NOT_IN_LABELS.sub("-", text[:LABEL_LENGTH].lower()).strip("-")
    return f"; write {label!r}" if label and is_dns1123_label(label) else ""


def generate_name_broken(meta: Json) -> Iterator[Violation]:
    """Check that generateName together with a random suffix is a valid name."""
    prefix = meta.generate_name
    if prefix and not is_dns1123_subdomain(prefix.removesuffix("-") if len(prefix) > 1 else prefix):
        yield ("generateName",), f"must be the beginning of a DNS-1123 subdomain, found {prefix!r}"


def time_broken(field: str, wire: str) -> Callable[[Any], Iterator[Violation]]:
    """Return a check that a field, if set, is an RFC 3339 time, even in fields that only the server sets."""

    def broken(meta: Json) -> Iterator[Violation]:
        text = getattr(meta, field)
        if text is None:
            return
        try:
            is_time = _RFC3339.match(text) is not None and bool(datetime.datetime.fromisoformat(text))
        except ValueError:
            is_time = False
        if not is_time:
            yield (wire,), f"must be a time such as 2026-01-31T12:00:00Z, found {text!r}"

    return broken


def labels_broken(meta: Json) -> Iterator[Violation]:
    """Check that label keys are qualified names, and values are label values."""
    for key, value in meta.labels.items():
        if not is_qualified_name(key):
            yield ("labels", key), _KEY
        if not is_label_value(value):
            yield (
                ("labels", key),
                f"must be a label value (at most 63 letters, digits, '-', '_', '.'), found {value!r}; "
                "put free text into an annotation",
            )


def annotations_broken(meta: Json) -> Iterator[Violation]:
    """Check that annotation keys are qualified names in any case, and that the total size is at most 256 KiB."""
    size = 0
    for key, value in meta.annotations.items():
        size += len(key.encode()) + len(value.encode())
        if not is_qualified_name(key.lower()):
            yield ("annotations", key), _KEY
    if size > ANNOTATIONS_MAX_BYTES:
        yield ("annotations",), f"must be at most {ANNOTATIONS_MAX_BYTES} bytes in total, found {size}"


def finalizers_broken(meta: Json) -> Iterator[Violation]:
    """Check that finalizers are qualified names and do not conflict."""
    for index, name in enumerate(meta.finalizers or ()):
        if not is_qualified_name(name):
            yield (
                ("finalizers", index),
                f"must be a qualified name such as example.com/cleanup, found {name!r}",
            )
    if {"orphan", "foregroundDeletion"} <= set(meta.finalizers or ()):
        yield ("finalizers",), "must not contain both orphan and foregroundDeletion; keep one"


def owners_broken(meta: Json) -> Iterator[Violation]:
    """Check that owner references are complete, and that at most one is the controller."""
    controllers = 0
    for index, owner in enumerate(meta.owner_references or ()):
        controllers += owner.controller is True
        fields = {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid}
        for field, value in fields.items():
            if not value:
                yield ("ownerReferences", index, field), "must not be empty"
        if owner.api_version.count("/") > 1 or owner.api_version.endswith("/"):
            yield (
                ("ownerReferences", index, "apiVersion"),
                f"must be group/version, found {owner.api_version!r}",
            )
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            yield ("ownerReferences", index), "must not be an Event, which cannot own other objects"
    if controllers > 1:
        yield ("ownerReferences",), f"must have at most one controller, found {controllers}"


_KEY = "must be a name (letters, digits, '-', '_', '.', at most 63) with an optional DNS prefix and '/'"
