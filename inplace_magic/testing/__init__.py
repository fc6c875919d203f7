"""The pytest plugin: ``pytest --inplace-watch`` runs the body of each test inside a watch."""
