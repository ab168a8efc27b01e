"""Invented worlds whose truth is known, one file a kind of record."""
