def moved(place):
    place.add_(paddle.ones([2]))
    return place


def run(copied):
    place = paddle.zeros([2])
    before = place.clone() if copied else place
    tried = moved(place)
    if tried.sum().item() > 0:
        place = before
    return place * 1


# Bad
end = run(False)

# Good
end = run(True)
