"""Model folders and whole files."""
