"""THE chain: sums over all paths, posteriors and best paths of ragged sequences."""
