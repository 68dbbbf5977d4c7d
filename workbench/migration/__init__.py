"""``workbench migrate``: convert manifests from one release of their API to another."""

from .command import register as register
