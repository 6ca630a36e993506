"""Span text → value, or None where the text cannot be read. Pure: no clock, no locale or zone of the
machine."""

from mcl.values.dates import read_moment
from mcl.values.durations import read_duration
from mcl.values.money import read_money
from mcl.values.numbers import read_number
from mcl.values.quantities import Quality, read_quality
from mcl.values.regions import read_regions
from mcl.values.slots import read_slot

__all__ = [
    "Quality",
    "read_duration",
    "read_moment",
    "read_money",
    "read_number",
    "read_quality",
    "read_regions",
    "read_slot",
]
