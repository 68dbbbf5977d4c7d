"""The page of deviations names each difference that a user can meet."""

import pytest

from tests.documentation.blocks import ROOT

PAGE = (ROOT / "docs/deviations.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|")]
NAMED = [
    # (what the row's first cell has, what else the row has)
    ("`minReplicas` above `maxReplicas` in a binding", "rejected"),
    ("`envFrom` of the runtime beside prefill", "both"),
    ("the role that an autoscaler of `vLLMDisaggregated` reads", "`decode`"),
    ("`rolloutStrategy.rollingUpdateConfiguration.partition` of a Service", "an error with realization `operator`"),
    ("a variable twice in `envs` of a BackendRuntime or Playground", "the last one"),
    ("`RUNTIME_URL` and `RUNTIME_METRICS_PATH` with `valueFrom`", "$(RUNTIME_URL)"),
    ("labels of pods under `modelserving.volcano.sh/`", "`revision` are missing"),
    ("a change of one role", "only the pods of that role"),
    ("`memory` in `minResources`", "in bytes"),
    ("tolerations", "unless the template has an identical one"),
    ("D-15 to D-19", "absent `metricEndpoint`"),
    ("security of the init container", "copied if stricter"),
]


@pytest.mark.parametrize(("subject", "said"), NAMED)
def test_a_difference_has_a_row(subject: str, said: str) -> None:
    rows = [row for row in ROWS if subject in row.split("|")[1]]
    if len(rows) > 1:
        rows = [row for row in rows if row.split("|")[1].strip() == subject]
    assert len(rows) == 1
    assert said in rows[0]


def test_rows_have_as_many_cells_as_their_head() -> None:
    width = 0
    for before, line in zip(["", *PAGE.splitlines()], PAGE.splitlines(), strict=False):
        if not line.startswith("|"):
            continue
        cells = line.replace("\\|", "").count("|")
        width = cells if not before.startswith("|") else width
        assert cells == width, line
