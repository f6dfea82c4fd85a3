#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Lets a QEMU go that waits with -S, such that its run repeats exactly.

  steady.py QMP_SOCKET

With instruction counting the guest's time no longer depends on the host's, but the
moment at which QEMU's main loop serves timers and the console still does. All of
QEMU is on one host CPU (see run.sh); the thread that executes the guest becomes
SCHED_FIFO here, so that the main loop runs exactly when the guest waits.
"""

import json
import os
import socket
import sys
import time

CONNECT_SECONDS = 10


def connect(path):
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            return connection
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(f"steady.py: QEMU does not answer at {path}: {error}")
            time.sleep(0.02)


def execute(stream, command):
    """Sends one command; returns its result. Events in between are of no interest."""
    stream.write(json.dumps({"execute": command}) + "\n")
    stream.flush()
    for line in stream:
        answer = json.loads(line)
        if "error" in answer:
            sys.exit(f"steady.py: QEMU refuses {command}: {answer['error']['desc']}")
        if "return" in answer:
            return answer["return"]
    sys.exit(f"steady.py: QEMU ended before it answered {command}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: steady.py QMP_SOCKET")
    connection = connect(sys.argv[1])
    stream = connection.makefile("rw")
    stream.readline()
    execute(stream, "qmp_capabilities")
    threads = {cpu["thread-id"] for cpu in execute(stream, "query-cpus-fast")}
    for thread in threads:
        try:
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            sys.exit("steady.py: SCHED_FIFO is not permitted; --seed needs root")
    execute(stream, "cont")


if __name__ == "__main__":
    main()
