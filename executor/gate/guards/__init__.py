"""The guards of the gate, by what they look at. Each is ``guard(call, context) -> Ask | Deny | None``."""
