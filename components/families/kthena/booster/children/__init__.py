"""The resources that a ModelBooster becomes, one module for each and for the parts of its pods."""
