"""Goals that run again and again, or later: signed once, fired at their moments, each firing an intent.

A firing is signed with the agent's key alone; what it calls passes the gate like any other call. It writes
in the home, and where a person says so the units of the system's scheduler.
"""
