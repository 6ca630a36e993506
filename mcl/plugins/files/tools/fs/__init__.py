"""Files and folders as a whole: what is done with them, not with what they say."""
