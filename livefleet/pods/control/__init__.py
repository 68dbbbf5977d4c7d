"""The control API of the process behind the pods (:mod:`livefleet.control_api`)."""
