"""Rules for writes that were lost, one file each."""
