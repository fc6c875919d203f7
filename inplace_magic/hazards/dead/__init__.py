"""Rules on work without an effect: a write that dropped values, and a result that nobody read.

They may know what was written and read in which order. They report nothing that a later reader outside the watch could
still use, and do not know the other folders of rules.
"""
