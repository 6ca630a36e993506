"""Trying each tool in a folder of its own, and comparing what it does with what it declares."""

from mcl.plugins.probing.probing import SOURCE, Progress, probe
from mcl.plugins.probing.told import Probed, unprobed

__all__ = ["SOURCE", "Probed", "Progress", "probe", "unprobed"]
