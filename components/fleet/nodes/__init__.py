"""The nodes that the pods of a fleet need: instance types, sizes, and whether a pod fits."""
