"""A stand-in for the controller and the sidecar of Envoy AI Gateway, whose Go module is not available.

It follows v1.1.0, the version that ``components/plan/prerequisites/charts.yaml`` pins, and implements what the
objects of ``components/checks/front_door`` use. Each function names the source file that it follows.
"""
