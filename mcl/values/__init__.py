"""Span text → value, or None where the text cannot be read. Pure: no clock, no locale or zone of the machine.

Nothing is re-exported: each reader compiles its patterns when its module is imported, so only those that a
goal needs are. money.read_money · dates.read_moment · durations.read_duration · regions.read_regions ·
quantities.read_quality · numbers.read_number · slots.read_slot
"""
