"""The one optimiser of the package: L-BFGS, and OWL-QN where weights shall become exactly zero."""
