"""Ways to change the user's lines, one file each; a rule names those that cure its findings."""
