"""One file a rule: its page as docstring, ``check(story)``, its words."""
