"""Records and feature strings into sparse rows with a stable meaning."""
