"""``workbench init``: a repository with a model, a simulated stack, and a stack for the answers to five questions."""

from .command import register as register
