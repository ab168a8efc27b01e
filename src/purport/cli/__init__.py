"""The program `purport`: one file a verb, each of which calls what the library offers."""
