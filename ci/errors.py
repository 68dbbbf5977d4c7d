"""The exception that ends a pipeline step with a message instead of a traceback."""


class PipelineError(Exception):
    """A problem that readers of the log can fix."""
