"""A small, thread-safe client for the Kubernetes API.

Uses the standard library's HTTP client: applying thousands of objects is measurably slower with each layer above it.
"""

from .client import APPLY, Kube
from .errors import KubeError, MalformedObject, MalformedObjectError, NoSuchKindError

__all__ = ["APPLY", "Kube", "KubeError", "MalformedObject", "MalformedObjectError", "NoSuchKindError"]
