"""Models that keep the right answer a margin ahead of all others."""
