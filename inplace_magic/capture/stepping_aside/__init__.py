"""What traces, exports and compiles is let pass: the watch records nothing of it and says so."""
