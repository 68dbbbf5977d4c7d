"""A stand-in for Envoy AI Gateway, whose Go module is not to be had: what its controller and its sidecar do.

The stand-in follows v1.1.0, the version that ``components/plan/prerequisites/charts.yaml`` pins, as far as what
``components/checks/front_door`` renders uses it. Each rule names the file of the AI gateway that has it.
"""
