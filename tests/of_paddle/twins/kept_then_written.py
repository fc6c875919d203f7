class Journal:
    def __init__(self, copied):
        self.losses, self.copied = [], copied

    def note(self, loss):
        if self.copied:
            self.losses.append(loss.detach().clone())
        else:
            self.losses.append(loss.detach())

    def mean(self):
        return paddle.stack(self.losses).mean()


def run(journal):
    for k in range(3):
        loss = paddle.to_tensor(4.0 * k)
        journal.note(loss)
        loss.divide_(paddle.to_tensor(4.0))
    return journal.mean()


# Bad
mean = run(Journal(False))

# Good
mean = run(Journal(True))
