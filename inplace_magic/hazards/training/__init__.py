"""Rules on the state that training carries on: weights, their averages, statistics."""
