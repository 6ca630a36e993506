"""Who may do what with mcl: which commands are a person's, and how a process is told from a person's."""
