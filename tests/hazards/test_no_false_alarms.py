"""Healthy programs from other people's suites and repositories that were once accused; and beside each its true twin,
which is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hazards.both_ways import told

QUIET = {
    "an_empty_tensor_grows_as_out_and_is_viewed_later": """
        x = torch.empty(0)
        torch.cat([torch.ones(2), torch.ones(1)], out=x)
        y = x.view(1, 3)
        same = torch.empty(0)
        order = torch.arange(3, out=same.new()).view(1, -1)
        z = torch.square(y, out=same).expand(2, 3)
        print(y.sum(), z.sum(), order)
    """,
    "the_last_row_grows_as_out_and_nothing_stands_behind_it": """
        table = torch.zeros(2, 4)
        torch.square(torch.ones(6), out=table[1])
        print(table[0].sum())
    """,
    "a_caller_asks_for_the_shape_alone_of_what_a_function_wrote": """
        net = nn.Linear(3, 3)
        def masked_loss(estimate, mask):
            estimate *= mask
            return estimate.pow(2).mean()
        estimate = net(torch.randn(4, 3))
        loss = masked_loss(estimate, torch.tensor([1.0, 1.0, 0.0]))
        rows, cols = estimate.size()
        print(estimate.shape, estimate.dim(), len(estimate), estimate.numel(), estimate.dtype)
        loss.backward()
    """,
    "pretrained_vectors_are_loaded_over_the_row_for_padding": """
        pretrained = torch.randn(6, 4)
        table = nn.Embedding(6, 4, padding_idx=0)
        with torch.no_grad():
            table.weight.copy_(pretrained)
        table.weight.data.copy_(pretrained)
        nn.Linear(4, 1)(table(torch.tensor([1, 2]))).sum().backward()
    """,
    "the_state_of_an_optimizer_is_carried_to_the_next_network": """
        meta, state = nn.Linear(3, 1), None
        for task in range(3):
            net = nn.Linear(3, 1)
            net.load_state_dict(meta.state_dict())
            optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
            if state is not None:
                optimizer.load_state_dict(state)
            for _ in range(2):
                optimizer.zero_grad()
                net(torch.randn(4, 3)).pow(2).mean().backward()
                optimizer.step()
            state = optimizer.state_dict()
    """,
    "a_tensor_is_compared_with_its_round_trip": """
        def make(n):
            x = torch.empty(n); x.uniform_(0, 1); return x
        a = make(4)
        assert torch.allclose(a.cpu(), a)
        assert torch.equal(a, torch.from_numpy(a.numpy()))
        b = a.view(torch.int32).view(torch.float32)
        assert torch.equal(b, a)
    """,
    "a_function_calls_its_own_tensor_as_its_caller_calls_another": """
        def angles_of(q):
            angle = torch.zeros_like(q)[..., :3]
            angle[..., 0] += q[..., 1]
            angle[..., 1] += q[..., 2]
            return angle
        def turned(angle):
            return torch.cat([torch.ones(1, 1), angle], 1)
        def close(one, other):
            return torch.allclose(one.data, other.data)
        def main():
            angle = torch.tensor([[0.5, 0.2, 0.0]])
            q = turned(angle)
            angle_hat = angles_of(q)
            assert close(angle_hat, angle)
        main()
    """,
    "a_tensor_is_filled_before_another_library_gets_it": """
        import numpy as np
        def generated(n):
            x = torch.randn(n)
            x[torch.randn(n) > 0.5] = 0
            return x
        def compared(x):
            expected = np.atleast_1d(x.cpu().numpy())
            given = torch.from_numpy(expected)
            assert torch.equal(torch.atleast_1d(x), given)
            torch.testing.assert_close(torch.atleast_1d(x), torch.from_numpy(expected))
        compared(generated(400))
        compared(generated(4))
    """,
    "a_network_loads_its_own_state": """
        net = nn.Sequential(nn.Linear(40, 40), nn.Linear(40, 40), nn.BatchNorm1d(40))
        net[1].weight = net[0].weight
        with torch.no_grad():
            net[0].weight.mul_(2)
        net.load_state_dict(net.state_dict())
        state = net.state_dict()
        net.load_state_dict(state)
        net.load_state_dict(state)
    """,
    "gradcheck_moves_the_entries_of_a_large_input": """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x
            @staticmethod
            def backward(ctx, g):
                x, = ctx.saved_tensors
                return 2 * g * x
        x = torch.randn(10, 10, dtype=torch.double, requires_grad=True)
        assert torch.autograd.gradcheck(Square.apply, (x,))
        assert torch.autograd.gradcheck(lambda x: (x * x).sum(), (x,))
    """,
    "gradcheck_moves_the_entries_of_what_is_expanded": """
        column = torch.randn(3, 1, dtype=torch.double, requires_grad=True)
        assert torch.autograd.gradcheck(lambda c: (c.expand(3, 40) ** 2).sin(), (column,))
    """,
    "a_grid_is_filled_column_by_column_and_copied_from_its_own_start": """
        def grid(size, dims):
            points, before = torch.zeros(size ** dims, dims), None
            for i in range(dims):
                for j in range(size):
                    part = slice(j * size ** i, (j + 1) * size ** i)
                    points[part, i].fill_(j + 1)
                    if before is not None:
                        points[part, :i].copy_(before)
                before = points[: size ** (i + 1), : i + 1]
            return points
        assert len(set(map(tuple, grid(4, 2).tolist()))) == 16
    """,
    "what_an_out_argument_gave_is_held_against_it": """
        out = torch.empty(3)
        torch.testing.assert_close(torch.add(torch.ones(3), 1, out=out), out)
    """,
    "what_a_module_gives_back_is_held_against_what_it_got": """
        given = torch.empty(2, 6)[:, ::2]
        given.copy_(torch.ones(2, 3))
        got = nn.Dropout(0.0)(given)
        torch.testing.assert_close(given, got)
    """,
    "what_a_module_gives_back_is_a_view_of_the_view_it_got": """
        given = torch.empty(2, 3, 4, 8)[..., ::2]
        given.copy_(torch.ones(2, 3, 4, 4))
        got = nn.Dropout3d(0.0)(given)
        torch.testing.assert_close(given, got)
    """,
    "a_tensor_gets_the_memory_of_another_after_the_write": """
        a, b = torch.ones(3), torch.zeros(3)
        both = a + b
        b.add_(1)
        a.data = b
        torch.testing.assert_close(a, b)
    """,
    "a_parametrized_weight_is_set_again_after_the_write": """
        class Exponential(nn.Module):
            def forward(self, x):
                return x.exp()
            def right_inverse(self, x):
                if (x <= 0).any():
                    raise ValueError
                return x.log()
        net = nn.Linear(3, 3)
        nn.init.ones_(net.weight)
        nn.utils.parametrize.register_parametrization(net, "weight", Exponential())
        x = -torch.rand(3, 3) - 1
        try:
            net.weight = x
        except ValueError:
            pass
        x.neg_()
        net.weight = x
        torch.testing.assert_close(net.weight, x)
    """,
    "parameters_are_held_against_themselves": """
        net = nn.Linear(2, 2)
        nn.init.ones_(net.bias)
        given = tuple(net.parameters())
        torch.testing.assert_close(given, (net.weight, net.bias))
    """,
    "gradcheck_compares_tangents_of_its_own": """
        class Copy(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return x.clone(), y.clone()
            @staticmethod
            def backward(ctx, gx, gy):
                return gx, gy
            @staticmethod
            def jvp(ctx, x, y):
                return x, y
        pair = [torch.rand(2, dtype=torch.double, requires_grad=True) for _ in range(2)]
        assert torch.autograd.gradcheck(Copy.apply, pair, check_forward_ad=True)
    """,
    "an_entry_is_put_back_before_backward": """
        x = torch.randn(10, 10, requires_grad=True)
        loss = (x * x).sum()
        old = x.data.clone()
        x.data[3] = 0
        nudged = (x * x).sum().item()
        x.data.copy_(old)
        loss.backward()
        assert torch.equal(x.grad, 2 * old)
    """,
    "a_tensor_is_held_against_the_base_of_its_view": """
        t = torch.ones(3)
        v = t.view_as(t)
        v[0] = 0
        assert torch.equal(t, v._base)
    """,
    "a_second_name_is_given_after_the_write": """
        w = torch.rand(3)
        w.mul_(2)
        old = w
        assert torch.equal(w, old)
    """,
    "two_buffers_are_swapped": """
        a = torch.eye(2) * 2; y = a @ a; z = a @ a; s = torch.empty_like(y)
        for _ in range(3):
            torch.mm(y, a, out=s)
            y, s = s, y
            torch.mm(a, z, out=s)
            z, s = s, z
        torch.mm(z, y, out=a)
        torch.mm(y, a, out=s)
    """,
    "a_master_copy_is_written_back": """
        def step(p):
            master = p.to(torch.float32)
            master.mul_(0.9)
            p.copy_(master.to(p.dtype))
        step(torch.rand(4))
    """,
    "a_helper_negates_the_gradients": """
        class Opt:
            def __init__(self, params, maximize):
                self.params = params; self.maximize = maximize
            def moments(self, grads, sq):
                if self.maximize:
                    torch._foreach_neg_(grads)
                torch._foreach_addcmul_(sq, grads, grads, value=.1)
                return torch.stack([s.sum() for s in sq]).sum()
            @torch.no_grad()
            def step(self):
                zeros = [torch.zeros_like(p) for p in self.params]
                batch = {"params": self.params, "grads": [p.grad for p in self.params], "sq": zeros}
                total = 0.0
                total += self.moments(batch["grads"], batch["sq"])
                torch._foreach_add_(batch["params"], batch["grads"], alpha=-.1)
        def main():
            ps = [torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)]
            (ps[0].sum() * ps[1].sum()).backward()
            Opt(ps, True).step()
        main()
    """,
    "a_tensor_is_converted_under_its_own_name": """
        def make(n):
            x = torch.randn(n)
            x = x.to(torch.float32)
            x[0] = 0
            return x
        total = make(3) + 1
    """,
    "r_drop_calls_a_model_with_batchnorm_twice": """
        def rdrop_step(model, x):
            p = model(x)
            q = model(x)
            return (p - q).pow(2).mean()
        def main():
            rdrop_step(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), torch.randn(8, 4)).backward()
        main()
    """,
    "pseudo_labels_come_from_a_model_with_batchnorm": """
        def pseudo(model, x):
            with torch.no_grad():
                t = model(x).argmax(1)
            return F.cross_entropy(model(x), t)
        def main():
            pseudo(nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), torch.randn(8, 4)).backward()
        main()
    """,
    "a_discriminator_with_batchnorm_sees_the_fake_twice": """
        def d_step(netD, fake, real):
            d = netD(fake.detach())
            r = netD(real)
            g = netD(fake)
            return d.mean() - r.mean() - g.mean()
        def main():
            D = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
            G = nn.Linear(2, 4)
            d_step(D, G(torch.randn(8, 2)), torch.randn(8, 4)).backward()
        main()
    """,
    "a_trainer_computes_the_accuracy_after_the_step": """
        class Trainer:
            def __init__(self):
                self.model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
                self.opt = torch.optim.SGD(self.model.parameters(), .1)
            def step(self, x, y):
                loss = F.cross_entropy(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                return (self.model(x).argmax(1) == y).float().mean()
        def main():
            Trainer().step(torch.randn(8, 4), torch.randint(0, 8, (8,)))
        main()
    """,
    "one_network_with_batchnorm_has_two_attributes": """
        class Algo(nn.Module):
            def __init__(self):
                super().__init__()
                self.moving = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
                self.alias = self.moving
            def step(self, x):
                p = self.moving(x)
                q = self.alias(x)
                return (p - q).pow(2).mean()
        def main():
            Algo().step(torch.randn(8, 4)).backward()
        main()
    """,
    "scores_are_masked_through_data_for_a_softmax": """
        scores = nn.Linear(4, 5)(torch.randn(2, 4))
        scores.data.masked_fill_(torch.arange(5) > 3, -float("inf"))
        torch.softmax(scores, -1).pow(2).sum().backward()
    """,
    "a_custom_function_reads_its_input_again_which_nobody_wrote": """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, i):
                ctx.i = i
                return i * i
            @staticmethod
            def backward(ctx, g):
                return g * 2 * ctx.i
        h = torch.ones(3, requires_grad=True) * 1
        y = Square.apply(h)
        y.sum().backward()
        h.detach().add_(1)
    """,
    "a_truncated_normal_by_hand_is_loaded_over": """
        def trunc_normal_(x, std=0.02):
            with torch.no_grad():
                return x.uniform_(-0.99, 0.99).erfinv_().mul_(std * 2 ** 0.5).clamp_(min=-2.0, max=2.0)
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.token = nn.Parameter(torch.zeros(1, 4))
                self.fc = nn.Linear(4, 3)
                trunc_normal_(self.token)
                trunc_normal_(self.fc.weight)
            def forward(self, x):
                return self.fc(x + self.token)
        student, teacher = Net(), Net()
        teacher.load_state_dict(student.state_dict())
        teacher.requires_grad_(False)
        (student(torch.ones(2, 4)) - teacher(torch.ones(2, 4))).square().mean().backward()
    """,
    "an_average_of_all_buffers_takes_the_counters_along": """
        import copy
        def follow(slow, net):
            with torch.no_grad():
                for one, other in zip(net.parameters(), slow.parameters()):
                    other.data = other.data * 0.9 + 0.1 * one.data
                for one, other in zip(net.buffers(), slow.buffers()):
                    other.copy_(other * 0.9 + 0.1 * one)
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        slow = copy.deepcopy(net)
        for _ in range(2):
            net.zero_grad()
            net(torch.randn(5, 4)).square().mean().backward()
            follow(slow, net)
        shown = slow.eval()(torch.randn(5, 4)).sum()
    """,
    "an_optimizer_counts_in_float32_and_puts_back_what_it_has_counted": """
        class Step(torch.optim.Optimizer):
            @torch.no_grad()
            def step(self):
                for p in self.param_groups[0]["params"]:
                    p32 = p.data.float()
                    p32.add_(p.grad.data.float(), alpha=-0.1)
                    p.data.copy_(p32)
                    m32 = self.state[p].setdefault("m", torch.zeros_like(p32)).float()
                    m32.mul_(0.9).add_(p.grad)
                    self.state[p]["m"].copy_(m32)
        net = nn.Linear(3, 2)
        optimizer = Step(net.parameters(), {})
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(4, 3)).square().sum().backward()
            optimizer.step()
    """,
    "a_vector_that_an_iteration_left_in_place_is_stored_where_it_is": """
        class Normed(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(3, 4))
                self.register_buffer("u", torch.ones(3))
                self.register_buffer("v", torch.ones(4))
            def unit(self, x, out):
                return F.normalize(x, dim=0, out=out)
            def forward(self, x):
                u, v = self.u, self.v
                with torch.no_grad():
                    for _ in range(2):
                        u = self.unit(self.weight @ v, out=u)
                        v = self.unit(self.weight.T @ u, out=v)
                    self.v.copy_(v)
                    self.u.copy_(u)
                    u, v = u.clone(), v.clone()
                return x @ self.weight.T / (u @ self.weight @ v)
        net = Normed()
        for _ in range(2):
            net(torch.randn(5, 4)).square().mean().backward()
    """,
    "a_call_says_by_out_what_the_rest_of_its_chain_goes_on_with": """
        def scaled(grad, mean):
            update = grad ** 2 + 1e-30
            mean.mul_(0.9).add_(update, alpha=0.1)
            torch.rsqrt(mean, out=update).mul_(grad)
            update.div_(max(1.0, update.norm().item()))
            return update * 0.1
        mean = torch.ones(4)
        for _ in range(2):
            x = scaled(torch.randn(4), mean)
    """,
    "two_states_begin_as_one_and_are_bound_anew_before_they_are_written": """
        def rolled(cell, steps):
            h = c = torch.zeros(2, 3)
            for _ in range(steps):
                h, c = cell(torch.randn(2, 3), (h, c))
                h *= 0.9
                c[0] = 0
            return h
        with torch.no_grad():
            rolled(nn.LSTMCell(3, 3), 3)
            cell = nn.LSTMCell(3, 3)
            h = c = torch.zeros(2, 3)
            for _ in range(3):
                h, c = cell(torch.randn(2, 3), (h, c))
                h *= 0.9
                c *= 0.8
    """,
    "an_array_takes_the_values_of_what_is_put_into_it": """
        import numpy as np
        weights, history = torch.zeros(3), np.zeros((4, 3), np.float32)
        class Log:
            def __init__(self):
                self.rows = np.zeros((4, 3), np.float32)
            def put(self, k, weights):
                self.rows[k] = weights.numpy()
        def fill(rows, weights):
            for k in range(4):
                weights += 1
                rows[k] = weights.numpy()
        log = Log()
        for k in range(4):
            weights += 1
            history[k] = weights.numpy()
            log.put(k, weights)
        fill(np.zeros((4, 3)), weights)
        print(history, log.rows)
    """,
    "an_evaluation_runs_the_network_by_its_second_attribute": """
        class Trainer:
            def __init__(self):
                self.model = nn.Linear(4, 4)
                self.module = self.model
                self.opt = torch.optim.SGD(self.model.parameters(), .1)
            def train(self, x):
                for _ in range(2):
                    loss = self.model(x).pow(2).mean()
                    self.opt.zero_grad()
                    loss.backward()
                    self.opt.step()
                    with torch.no_grad():
                        error = self.module(x).abs().mean()
        def main():
            Trainer().train(torch.randn(3, 4))
        main()
    """,
}

FOUND = {
    "two_states_begin_as_one_and_are_written_before_they_are_bound_anew": (
        """
        h = c = torch.zeros(2, 3)
        cell = nn.LSTMCell(3, 3)
        with torch.no_grad():
            h[0] = 1
            h, c = cell(torch.randn(2, 3), (h, c))
        wrong = True
        """,
        ("alias-written", "h[0] = 1"),
        "wrong",
    ),
    "a_list_keeps_the_array_that_is_put_into_it": (
        """
        weights, history = torch.zeros(3), [None] * 4
        for k in range(4):
            weights += 1
            history[k] = weights.numpy()
        wrong = history[0][0] != 1
        """,
        ("array-shares-memory", "weights += 1"),
        "wrong",
    ),
    "an_average_of_all_buffers_cuts_a_counter_that_is_read": (
        """
        net = nn.Module()
        net.register_buffer("mean", torch.zeros(3))
        net.register_buffer("seen", torch.zeros(1, dtype=torch.long))
        for buffer, value in ((net.mean, torch.ones(3)), (net.seen, torch.ones(1))):
            buffer.copy_(0.5 * buffer + 0.5 * value)
        share = net.mean / (net.seen + 1)
        wrong = net.seen.item() != 0.5
        """,
        ("values-cut-off", "buffer.copy_(0.5 * buffer + 0.5 * value)"),
        "wrong",
    ),
    "a_conversion_that_made_no_copy_is_compared_after_a_write": (
        """
        a = torch.rand(4)
        b = a.cpu()
        a.add_(1)
        unchanged = torch.allclose(b, a)
        """,
        ("same-memory-compared", "a.add_(1)"),
        "unchanged",
    ),
    "an_array_that_was_taken_before_the_write_is_compared": (
        """
        w = torch.zeros(400)
        old = w.numpy()
        w.add_(1)
        before = torch.from_numpy(old)
        nothing = torch.equal(w, before)
        """,
        ("same-memory-compared", "w.add_(1)"),
        "nothing",
    ),
    "a_state_is_loaded_twice_with_a_write_between": (
        """
        net = nn.Linear(2, 2)
        start = net.weight.detach().clone()
        state = net.state_dict()
        net.load_state_dict(state)
        with torch.no_grad():
            net.weight.mul_(2)
        net.load_state_dict(state)
        lost = not torch.equal(net.weight, start)
        """,
        ("same-memory-compared", "net.weight.mul_(2)"),
        "lost",
    ),
    "an_entry_is_put_back_after_backward": (
        """
        x = torch.ones(10, 10, requires_grad=True)
        loss = (x * x).sum()
        old = x.data.clone()
        x.data[3] = 0
        loss.backward()
        x.data.copy_(old)
        wrong = not torch.equal(x.grad, 2 * x)
        """,
        ("saved-values-changed", "x.data[3] = 0"),
        "wrong",
    ),
    "an_entry_is_put_back_and_another_one_is_not": (
        """
        x = torch.ones(10, 10, requires_grad=True)
        loss = (x * x).sum()
        old = x.data[3].clone()
        x.data[3] = 0
        x.data[3] = old
        x.data[4] = 0
        loss.backward()
        wrong = not torch.equal(x.grad, torch.full((10, 10), 2.0))
        """,
        ("saved-values-changed", "x.data[4] = 0"),
        "wrong",
    ),
    "what_is_put_back_was_copied_after_the_write": (
        """
        x = torch.ones(10, 10, requires_grad=True)
        loss = (x * x).sum()
        x.data.mul_(2)
        late = x.data.clone()
        x.data.mul_(3)
        x.data.copy_(late)
        loss.backward()
        wrong = not torch.equal(x.grad, torch.full((10, 10), 2.0))
        """,
        ("saved-values-changed", "x.data.mul_(2)"),
        "wrong",
    ),
    "the_copy_that_is_put_back_was_written": (
        """
        x = torch.ones(10, 10, requires_grad=True)
        loss = (x * x).sum()
        old = x.data.clone()
        x.data.mul_(2)
        old.zero_()
        x.data.copy_(old)
        loss.backward()
        wrong = not torch.equal(x.grad, torch.full((10, 10), 2.0))
        """,
        ("saved-values-changed", "x.data.mul_(2)"),
        "wrong",
    ),
    "what_a_module_gave_back_is_written_and_held_against_what_it_got": (
        """
        given = torch.ones(2, 3)
        got = nn.Dropout(0.0)(given)
        got.mul_(2)
        torch.testing.assert_close(given, got)
        lost = not torch.equal(given, torch.ones(2, 3))
        """,
        ("same-memory-compared", "got.mul_(2)"),
        "lost",
    ),
    "what_two_writes_of_one_tensor_gave_is_compared": (
        """
        q = torch.empty(100)
        first = q.normal_(generator=torch.Generator().manual_seed(1))
        second = q.normal_(generator=torch.Generator().manual_seed(2))
        torch.testing.assert_close(first, second)
        blind = torch.equal(first, second)
        """,
        ("same-memory-compared", "second = q.normal_(generator=torch.Generator().manual_seed(2))"),
        "blind",
    ),
    "a_second_name_is_given_before_the_write": (
        """
        def moved(w):
            old = w
            w.mul_(2)
            return (w - old).abs().sum()
        nothing = moved(torch.ones(3)) == 0
        """,
        ("same-memory-compared", "w.mul_(2)"),
        "nothing",
    ),
    "the_best_state_is_restored_from_an_alias": (
        """
        net = nn.Linear(2, 2)
        start = net.weight.detach().clone()
        best = net.state_dict()
        with torch.no_grad():
            net.weight.mul_(2)
        net.load_state_dict(best)
        lost = not torch.equal(net.weight, start)
        """,
        ("same-memory-compared", "net.weight.mul_(2)"),
        "lost",
    ),
    "a_helper_negates_features_that_are_read_again": (
        """
        def moments(features):
            torch._foreach_neg_(features)
            return torch.stack([f.sum() for f in features]).sum()
        def main():
            features = [torch.ones(3) * 1, torch.ones(2) * 1]
            total = moments(features)
            return torch._foreach_add(features, 1.0)
        wrong = main()[0][0] == 0
        """,
        ("argument-written", "torch._foreach_neg_(features)"),
        "wrong",
    ),
    "a_model_that_rectifies_its_argument_is_called_twice": (
        """
        def both(model, x):
            p = model(x)
            return p, x.sum()
        def main():
            x = -torch.ones(8, 4)
            net = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 8), nn.BatchNorm1d(8))
            return both(net, x)
        wrong = main()[1] == 0
        """,
        ("alias-written", "p = model(x)"),
        "wrong",
    ),
}


@pytest.mark.parametrize("name", QUIET)
def test_nobody_is_accused_where(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    ran = told(loaded_shell, tmp_path, QUIET[name])
    assert ran.plain is None
    assert ran.alarms == [[], []], [report.to_text() for report in ran.reports]


@pytest.mark.parametrize("name", FOUND)
def test_it_is_found_where(name: str, loaded_shell: Any, tmp_path: Path) -> None:
    program, finding, wrong = FOUND[name]
    ran = told(loaded_shell, tmp_path, program)
    assert ran.plain is None, "PyTorch says nothing"
    assert ran.names[wrong], "the program computes what it did not mean"
    assert [finding in alarms for alarms in ran.alarms] == [True, True], ran.alarms


def test_a_comparison_says_no_more_than_is_known_of_when_its_sides_became_one(
    loaded_shell: Any, tmp_path: Path
) -> None:
    ran = told(
        loaded_shell,
        tmp_path,
        """
        one = [torch.randn(3, requires_grad=True)]
        two = [one[0].detach().clone().requires_grad_()]
        first, second = torch.optim.Adam(one), torch.optim.Adam(two)
        one[0].grad = torch.ones(3); first.step()
        second.load_state_dict(first.state_dict())
        s1, s2 = first.state_dict()["state"][0], second.state_dict()["state"][0]
        assert torch.equal(s1["exp_avg"], s2["exp_avg"])
        """,
    )
    assert ran.plain is None
    for finding in ran.the("same-memory-compared"):
        assert "One is an alias of the other" in finding.message
        assert "since it was taken" not in finding.message  # the step came before the second name
