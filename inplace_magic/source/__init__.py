"""The user's text: from a place to its lines, its syntax tree, its names. No torch; both sides read it."""
