"""The local engine: runs the unmodified Pulumi program and applies its Kubernetes objects.

    values.py     values of resources: secrets, unknowns, sealing
    program/      runs the program and collects the resources it registers
    diff.py       field-level differences, and whether they can be applied in place
    plan.py       steps of a plan
    planning/     the plan, from the resource graph and the state
    state.py      the state in SQLite, one transaction per step
    targets.py    the clusters of the providers
    apply/        applies a plan in parallel, and waits until the objects are ready
    display.py    text and JSON output
    local.py      up, preview, destroy, outputs

The whole graph is collected before anything is applied: a program that fails creates nothing.
"""
