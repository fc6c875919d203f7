"""Rules on the buffers that backward adds to: cleared too late, scaled too early, shared, moved away.

They may know the writes to gradients, the runs of backward and the steps of optimizers in order. They know no loss
curve and no optimizer by name.
"""
