"""What pipelines of code hosts run: which stacks a change touches, a plan of each, and one comment about them.

Everything here runs the same way on a laptop. What runs with rights to write (``publish``) needs nothing but Python's
own library: no package is installed there.
"""
