"""Coding agents: what they may work on, and what they did."""
