"""The local engine: runs the unmodified Pulumi program and makes its Kubernetes objects real.

    values.py     plain values: secrets, unknowns, sealing
    program/      runs the program, answers it and collects what it registers
    diff.py       what changed, field by field, and whether it can change in place
    plan.py       steps: what is to be done
    planning/     the plan, from the graph and the state; what goes, and what must not go
    state/        SQLite: what was applied, one transaction per step
    targets.py    the clusters behind the providers
    apply/        carries the plan out in parallel, and waits until what was applied works
    display.py    the tree and the summary
    local.py      up, preview, destroy, outputs

The whole graph is collected before anything is applied: a program that fails creates nothing.
"""
