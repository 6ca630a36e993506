"""What a person does with the files of a skill, one verb a file."""
