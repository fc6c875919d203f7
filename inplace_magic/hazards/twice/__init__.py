"""One memory met twice in one call or statement, as if it were two tensors."""
