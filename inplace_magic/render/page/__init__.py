"""The HTML page of a report and the script that lives in it."""
