"""Rules on work without an effect: a write that dropped values, a result that nobody read, memory that nobody filled.

They may know what was written and read in which order. They report nothing that a later reader outside the watch could
still use, and do not know the other folders of rules.
"""
