"""Tools of other servers: their names, what they count as, what a person has said of them, and their use."""
