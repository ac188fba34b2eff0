"""A flag that a graph tells: the answer is that of the run since the ticket was opened, or none."""

import pytest
import torch

from bruit.deep.compiled.device_flags import device_flag, tell


def test_the_answer_is_that_of_the_last_run() -> None:
    flag = device_flag(torch.device("cpu"))
    for good in (True, False, True):
        flag.open()
        tell(torch.tensor(good), flag.number)
        assert flag.answer() is good


def test_rule_2_a_run_that_told_nothing_is_not_taken_for_the_one_before() -> None:
    flag = device_flag(torch.device("cpu"))
    flag.open()
    tell(torch.tensor(True), flag.number)  # nobody asked
    flag.open()
    with pytest.raises(RuntimeError, match="without telling"):
        flag.answer()


def test_tickets_do_not_share_a_flag() -> None:
    one, other = (device_flag(torch.device("cpu")) for _ in range(2))
    one.open()
    other.open()
    tell(torch.tensor(False), one.number)
    tell(torch.tensor(True), other.number)
    assert (one.answer(), other.answer()) == (False, True)


def test_a_ticket_stands_on_the_cpu_whatever_the_default_device_is() -> None:
    with torch.device("meta"):
        assert device_flag(torch.device("cpu")).here.device.type == "cpu"
