"""What every estimator shares: parameters, their checks, the state that is saved, progress."""
