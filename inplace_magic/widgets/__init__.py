"""Home of the live view for a running kernel; the static report needs nothing of it."""
