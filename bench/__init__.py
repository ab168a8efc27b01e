"""Comparisons with peers, papers, floors and limits: ``python -m bench NAME``."""
