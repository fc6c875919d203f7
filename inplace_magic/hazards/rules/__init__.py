"""One file a rule: ``check(story)``, its words."""
