"""The local engine: runs the unmodified Pulumi program and makes its Kubernetes objects real.

    program.py    the one module that touches what Pulumi keeps private: runs the program, answers it
    values.py     plain values: secrets, unknowns, sealing
    resources.py  a registration as plain data; URNs and aliases
    graph.py      collects the registrations and refuses what an engine must refuse
    diff.py       what changed, field by field, and whether it can change in place
    plan.py       what to do, from the graph and the state
    state.py      SQLite: what was applied, one transaction per step
    targets.py    the clusters behind the providers
    execute.py    carries the plan out in parallel
    ready.py      waits until what was applied works
    display.py    the tree and the summary
    local.py      up, preview, destroy, outputs

The whole graph is collected before anything is applied: a program that fails creates nothing.
"""
