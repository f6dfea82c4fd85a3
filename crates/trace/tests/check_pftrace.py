#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Decode a .pftrace with Perfetto's own schema (pip install perfetto) and refuse what that schema does not know.

    check_pftrace.py FILE...

For whoever changes the encoder: the Rust tests decode with a schema of their own, this one with the official one.
Prints packets and ftrace events of each file; exit code 1 if a field is unknown or a file cannot be decoded.
"""
import sys

from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace


def unknown_fields(message, path):
    """Paths of the messages that have fields outside the schema."""
    if len(UnknownFieldSet(message)):
        yield path
    for descriptor, value in message.ListFields():
        if descriptor.type == descriptor.TYPE_MESSAGE:
            for part in value if descriptor.is_repeated else [value]:
                yield from unknown_fields(part, f"{path}.{descriptor.name}")


def main(paths):
    failed = not paths
    for path in paths:
        trace = Trace()
        try:
            with open(path, "rb") as file:
                trace.ParseFromString(file.read())
        except (OSError, DecodeError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
            continue
        for place in sorted(set(unknown_fields(trace, "trace"))):
            print(f"{path}: unknown field in {place}", file=sys.stderr)
            failed = True
        events = sum(len(packet.ftrace_events.event) for packet in trace.packet)
        print(f"{path}: {len(trace.packet)} packets, {events} ftrace events")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
