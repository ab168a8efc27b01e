"""The pipeline of `purport study` and `purport demo`: one stage a task."""
