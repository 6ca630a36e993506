"""The guards of the gate, one file each. Every one is ``check(call, context) -> Ask | Deny | None``."""
