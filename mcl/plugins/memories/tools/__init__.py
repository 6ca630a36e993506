"""Tools by which a plan finds and keeps memories."""
