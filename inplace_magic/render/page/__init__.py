"""The HTML page of a report, and the script that lives in it.

It may know the report, the other renderers and the language. It judges nothing, loads nothing from elsewhere, and puts
the user's text into the page as text.
"""
