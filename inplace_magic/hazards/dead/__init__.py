"""Writes and results that did nothing: what one write dropped, what nobody read, what nobody filled."""
