"""A small, thread-safe client for the Kubernetes API.

On the standard library's HTTP client: an apply of thousands of objects feels every layer above that.
"""

from .client import APPLY, Kube
from .errors import KubeError, NoSuchKindError

__all__ = ["APPLY", "Kube", "KubeError", "NoSuchKindError"]
