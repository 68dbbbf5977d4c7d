"""Reproduction of upstream's sizing, with its rounding and choices, for comparison; plans use ``queues``.

Rates are float32 and state probabilities float64, in upstream's order of operations (optimizer-light v0.5.0 and
queue-analysis v0.1.0 of llm-inferno, which its controller uses at c0f645c), so that the results are bit-identical on
amd64.
"""
