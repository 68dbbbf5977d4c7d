"""A language host in this process: a CLI that was built here has none, and runs the program through it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc  # type: ignore[import-untyped]
from pulumi.automation._server import LanguageServer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import language_pb2_grpc

from toolkit.ports import LOOPBACK

from .program.adapter import Program

_WORKERS = 4
"""As many as the Automation API has."""


@contextmanager
def serving(program: Program) -> Iterator[str]:
    """Serve a program as the Automation API does; yield the address for ``pulumi --client``."""
    server = grpc.server(ThreadPoolExecutor(_WORKERS), options=_GRPC_CHANNEL_OPTIONS)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageServer(program), server)
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    server.start()
    try:
        yield f"{LOOPBACK}:{port}"
    finally:
        server.stop(grace=None)
