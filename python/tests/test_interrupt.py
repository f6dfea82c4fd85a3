# SPDX-License-Identifier: GPL-2.0-only
"""Runs leave the interpreter free, and end at ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import alight

# Hours of simulated time: none of these ends by itself within a test.
ENDLESS = {"duration": "36000s"}
LOAD = "cyclictest -t 8 -a -q -D 36000"


def compare():
    alight.compare("juno-r0", LOAD, ["linux-5.5", "linux-6.1"], runs=4, **ENDLESS)


def simulate():
    alight.simulate("juno-r0", LOAD, **ENDLESS)


def explain():
    alight.explain("juno-r0", LOAD, histogram=True, **ENDLESS)


@pytest.mark.parametrize("ask", [compare, simulate, explain])
def test_ctrl_c_ends_a_run_and_other_threads_run_meanwhile(ask):
    turns = []

    def interrupt():
        for turn in range(20):
            time.sleep(0.01)
            turns.append(turn)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        ask()
    thread.join()
    assert len(turns) == 20


def test_another_handler_may_raise_what_it_likes():
    class Enough(Exception):
        pass

    def handler(signum, frame):
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(Enough):
            simulate()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_two_threads_ask_at_once():
    hashes = {}

    def ask(seed):
        hashes[seed] = alight.simulate("juno-r0", "hackbench -g 1 -l 5", seed=seed).hash

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, found in hashes.items():
        assert found == alight.simulate("juno-r0", "hackbench -g 1 -l 5", seed=seed).hash
