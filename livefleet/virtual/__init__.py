"""The fleet in virtual time: a discrete-event simulation of hours of a trace, without a cluster."""
