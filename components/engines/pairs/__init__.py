"""Prefill and decode in servers of their own: how the key-value cache goes from one to the other, by version."""
