"""What autograd refuses, apart from a saved tensor that was overwritten: one file for each idea, one table in each."""
