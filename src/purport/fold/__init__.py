"""Folding data into statistics: the algebra, the engines, the threads, the kernel decorator."""

from purport.fold.thread_engine import threads

__all__ = ["threads"]
