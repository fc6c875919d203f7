"""Rules about tensors that were handed to a function, which wrote them."""
