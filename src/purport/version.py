"""The version of purport, kept below everything so that any folder may write it down."""

VERSION = "0.1.0"
