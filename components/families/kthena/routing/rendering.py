"""What ModelRoute becomes."""

from ....api.findings import Findings
from ....api.load import Loaded
from ....fleet.library import Library
from ....fleet.options import Options
from ....fleet.rendered import Rendered
from ....fleet.serving import render_declared
from ..operated import OPERATOR


def render_model_route(source: Loaded, _library: Library, options: Options, _findings: Findings) -> Rendered | None:
    """Render a ModelRoute."""
    return render_declared(source, options, OPERATOR)
