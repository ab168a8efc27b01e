"""Sequence models over the chain: what each clamps, one shared trainer, decoding."""
