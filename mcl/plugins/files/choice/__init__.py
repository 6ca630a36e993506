"""Which of the files here a goal means, by its words."""
