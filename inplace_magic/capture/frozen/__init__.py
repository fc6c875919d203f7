"""What a watch kept, made readable."""
