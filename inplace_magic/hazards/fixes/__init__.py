"""Changes of the user's lines, one file each; a rule names those that cure its findings.

They may know a finding, its story and the text. They run nothing (``proving/`` does), and know no rule.
"""
