"""Everyday goals in realistic folders, run to the end; what counts is the effect. See README.md."""
