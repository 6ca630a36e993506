"""Which version of mcl this is."""

VERSION = "0.1.0"
