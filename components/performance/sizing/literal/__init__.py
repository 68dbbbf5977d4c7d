"""What the Workload Variant Autoscaler itself answers: the model of queues with upstream's rounding and choices.

Rates are float32 and the shares of states float64, in the order in which upstream computes them (optimizer-light
v0.5.0 and queue-analysis v0.1.0 of llm-inferno, which its controller uses at c0f645c), so that figures agree with its
own to the last bit on amd64. Nothing here is for sizing: that is ``queues``.
"""
