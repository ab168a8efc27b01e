"""Records: what was said and done, read, checked, sliced and written as columns."""
