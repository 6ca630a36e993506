"""Signed work: what people let coding agents do, who does it now, and when it is done."""
