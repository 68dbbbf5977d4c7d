"""llmaz as a family: its kinds and what each becomes."""

from ..family import Family, Member
from .flavors import read_flavor
from .kinds import BACKEND_RUNTIME, OPEN_MODEL, PLAYGROUND, SERVICE
from .rendering import OPERATOR, render_backend_runtime, render_declared, render_playground, render_service

FAMILY = Family(
    name="llmaz",
    package=__package__ or "",
    operator=OPERATOR,
    flavor=read_flavor,
    members=(
        Member(OPEN_MODEL, render_declared, referred=True, component="OpenModel"),
        Member(BACKEND_RUNTIME, render_backend_runtime, referred=True, component="BackendRuntime"),
        Member(PLAYGROUND, render_playground, serves=True, component="Playground"),
        Member(SERVICE, render_service, serves=True, component="Service"),
    ),
)
