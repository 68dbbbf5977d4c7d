"""Prefill and decode in separate servers: the transfer of the KV cache between them, by engine version."""
