"""Tests that PyTorch's own framework makes from its own databases: a suite that every installed torch brings along.

What is done to each sample is what ``torch.testing._internal`` has functions for: derivatives held against numerical
ones, operators under modes and subclasses that change what a tensor is, custom operators traced and faked, higher-order
operators, modules, optimizers. It is run by ``test_sample.py`` in processes of its own.
"""

import copy
import io
import itertools

import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.testing._internal import common_utils, optests
from torch.testing._internal.autograd_function_db import autograd_function_db
from torch.testing._internal.common_device_type import instantiate_device_type_tests, ops
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db, modules
from torch.testing._internal.common_optimizers import optim_db, optims
from torch.testing._internal.common_utils import TestCase
from torch.testing._internal.composite_compliance import check_forward_ad_formula, check_with_mode
from torch.testing._internal.custom_op_db import custom_op_db
from torch.testing._internal.hop_db import hop_db
from torch.testing._internal.opinfo import core

# It finds the running test, for the text of a failure; at every sample it searches the stack, by `inspect`, which takes
# longer than the sample.
core.extract_test_fn = common_utils.extract_test_fn = lambda: None

DOUBLE = (torch.double,)
SOME_OPERATORS = [op for op in op_db if op.supports_autograd and torch.double in op.dtypes][::45]
HIGHER_ORDER = [op for op in hop_db if op.name in ("cond", "while_loop", "map")]
SAMPLES = 2


def samples_of(op, device, dtype, **options):
    return itertools.islice(op.sample_inputs(device, dtype, **options), SAMPLES)


class TestOperators(TestCase):
    @ops([*autograd_function_db, *SOME_OPERATORS], allowed_dtypes=DOUBLE)
    def test_derivatives(self, device, dtype, op):
        for sample in samples_of(op, device, dtype, requires_grad=True):
            inputs = [sample.input, *sample.args]
            if all(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs) and not sample.kwargs:
                self.assertTrue(gradcheck(op, inputs, fast_mode=True))
                if op.supports_gradgrad:
                    self.assertTrue(gradgradcheck(op, inputs, fast_mode=True))

    @ops(SOME_OPERATORS, allowed_dtypes=DOUBLE)
    def test_under_a_subclass(self, device, dtype, op):
        for sample in samples_of(op, device, dtype):
            check_with_mode(op, (sample.input, *sample.args), sample.kwargs, self.assertEqual)

    @ops([op for op in SOME_OPERATORS if op.supports_forward_ad], allowed_dtypes=DOUBLE)
    def test_forward_derivatives_under_a_subclass(self, device, dtype, op):
        for sample in samples_of(op, device, dtype, requires_grad=True):
            arguments = (sample.input, *sample.args)
            check_forward_ad_formula(op.get_op(), arguments, sample.kwargs, None, self.assertEqual)

    @ops(custom_op_db[::3], allowed_dtypes=(torch.float,))
    def test_custom_operators_traced_and_faked(self, device, dtype, op):
        for sample in samples_of(op, device, dtype, requires_grad=op.supports_autograd):
            arguments = (sample.input, *sample.args)
            optests.fake_check(op.op, arguments, sample.kwargs)
            for dynamic in (False, True):
                optests.aot_autograd_check(op.op, arguments, sample.kwargs, dynamic)

    @ops(HIGHER_ORDER, allowed_dtypes=(torch.float,))
    def test_higher_order_operators(self, device, dtype, op):
        for sample in samples_of(op, device, dtype):
            op(sample.input, *sample.args, **sample.kwargs)


class TestTraining(TestCase):
    @modules(module_db[::12], allowed_dtypes=(torch.float,))
    def test_modules_converted_copied_and_saved(self, device, dtype, module_info, training):
        inputs = module_info.module_inputs_func(module_info, device, dtype, requires_grad=False, training=training)
        for given in inputs[:SAMPLES]:
            arguments = given.constructor_input
            module = module_info.module_cls(*arguments.args, **arguments.kwargs).to(device, dtype).train(training)
            twin = copy.deepcopy(module)
            file = io.BytesIO()
            torch.save(module.state_dict(), file)
            file.seek(0)
            module.double().to(dtype).load_state_dict(torch.load(file))
            states = []
            for each in (module, twin):
                torch.manual_seed(3)
                output = each(*copy.deepcopy(given.forward_input.args), **copy.deepcopy(given.forward_input.kwargs))
                states.append((output, each.state_dict()))
            self.assertEqual(*states)

    @optims([info for info in optim_db if not info.only_supports_sparse_grads], dtypes=[torch.float])
    def test_optimizers_go_on_from_their_state(self, device, dtype, optim_info):
        for given in optim_info.optim_inputs_func(device=device)[:SAMPLES]:
            weights, copies = ([torch.ones(3, 2, requires_grad=True)] for _ in range(2))
            one, other = (optim_info.optim_cls(each, **given.kwargs) for each in (weights, copies))

            def loss(each, optimizer):
                optimizer.zero_grad()
                value = (each[0] ** 2).sum()
                value.backward()
                return value

            for _ in range(2):
                for each, optimizer in ((weights, one), (copies, other)):
                    optimizer.step(lambda each=each, optimizer=optimizer: loss(each, optimizer))
                other.load_state_dict(copy.deepcopy(one.state_dict()))
            self.assertEqual(weights, copies)


instantiate_device_type_tests(TestOperators, globals(), only_for="cpu")
instantiate_device_type_tests(TestTraining, globals(), only_for="cpu")
