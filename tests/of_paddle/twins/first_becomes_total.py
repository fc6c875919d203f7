def total(parts):
    found = None
    for part in parts:
        if found is None:
            found = part
        else:
            found.add_(part)
    return found


def total_of_copies(parts):
    found = None
    for part in parts:
        if found is None:
            found = part.clone()
        else:
            found.add_(part)
    return found


parts = [paddle.ones([2]) * 1, paddle.ones([2]) * 2, paddle.ones([2]) * 3]

# Bad
whole = total(parts)
shares = [part / whole for part in parts]

# Good
whole = total_of_copies(parts)
shares = [part / whole for part in parts]
