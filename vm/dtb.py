#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Device tree of an arm64 guest whose CPUs differ in capacity.

Takes the tree that QEMU makes for its `virt` machine and adds what the kernel
reads about asymmetric CPUs: two clusters in `cpu-map`, `capacity-dmips-mhz` of
each CPU and, with --opps, one frequency domain a cluster, so that `cpufreq-dt`
binds, an energy model appears and energy-aware scheduling starts. The little
CPUs come first.

The clock of a frequency domain is fixed: the guest believes in its frequency
changes, but its speed is the emulator's.

  vm/dtb.py OUT --little 4 --big 2
  vm/dtb.py OUT --little 4 --big 2 --opps
  vm/dtb.py OUT --little 4 --big 2 --little-opps 500:800,1000:900 --big-opps 700:800,2000:1100

An operating point is MHZ:MILLIVOLT.
"""

import argparse
import os
import struct
import subprocess
import sys
import tempfile

# Flattened device tree, version 17 (Devicetree Specification, chapter 5).
MAGIC = 0xD00DFEED
BEGIN_NODE, END_NODE, PROP, NOP, END = 1, 2, 3, 4, 9
HEADER = struct.Struct(">10I")
VERSION, LAST_COMPATIBLE = 17, 16

# Frequencies of the Juno r0 board's two clusters in MHz, as its firmware offers
# them; the millivolts are assumed. Power coefficients in uW/MHz/V^2:
# arch/arm64/boot/dts/arm/juno.dts of Linux.
LITTLE_OPPS = "450:820,575:850,700:900,775:950,850:1000"
BIG_OPPS = "450:820,625:850,800:900,950:950,1100:1000"
LITTLE_POWER, BIG_POWER = 140, 530

# Time of one frequency change, which bounds how often schedutil asks for one.
TRANSITION_NS = 300_000


class Node:
    """A device tree node: properties in order, then children in order."""

    def __init__(self, name):
        self.name = name
        self.properties = {}
        self.children = []

    def child(self, name):
        for node in self.children:
            if node.name == name:
                return node
        raise KeyError(name)

    def add(self, name, **properties):
        """Appends a child; the `_` of a keyword is the `-` of the property."""
        node = Node(name)
        for key, value in properties.items():
            node.set(key.replace("_", "-"), value)
        self.children.append(node)
        return node

    def set(self, name, value):
        """Integers become cells, lists of them arrays, True an empty property."""
        if value is True:
            data = b""
        elif isinstance(value, bytes):
            data = value
        elif isinstance(value, str):
            data = value.encode() + b"\0"
        else:
            cells = value if isinstance(value, list) else [value]
            data = struct.pack(f">{len(cells)}I", *cells)
        self.properties[name] = data

    def cell(self, name):
        return struct.unpack(">I", self.properties[name])[0]

    def walk(self):
        yield self
        for node in self.children:
            yield from node.walk()


def read_blob(blob):
    """Returns the root and the memory reservation block of a blob."""
    magic, _, struct_at, strings_at, reserved_at = HEADER.unpack_from(blob)[:5]
    if magic != MAGIC:
        sys.exit(f"dtb.py: QEMU wrote no device tree (magic {magic:#x})")

    def string_at(at):
        return blob[at : blob.index(b"\0", at)].decode()

    at, stack, root = struct_at, [], None
    while True:
        (token,) = struct.unpack_from(">I", blob, at)
        at += 4
        if token == BEGIN_NODE:
            node = Node(string_at(at))
            at += (len(node.name) + 4) & ~3
            if stack:
                stack[-1].children.append(node)
            else:
                root = node
            stack.append(node)
        elif token == END_NODE:
            stack.pop()
        elif token == PROP:
            length, name_at = struct.unpack_from(">2I", blob, at)
            at += 8
            stack[-1].properties[string_at(strings_at + name_at)] = blob[at : at + length]
            at += (length + 3) & ~3
        elif token == END:
            break
        elif token != NOP:
            sys.exit(f"dtb.py: unknown token {token} in the device tree of QEMU")
    return root, blob[reserved_at:struct_at]


def write_blob(root, reserved):
    """The inverse of read_blob."""
    body, strings, string_places = bytearray(), bytearray(), {}

    def pad():
        body.extend(bytes(-len(body) % 4))

    def put(node):
        body.extend(struct.pack(">I", BEGIN_NODE) + node.name.encode() + b"\0")
        pad()
        for name, data in node.properties.items():
            if name not in string_places:
                string_places[name] = len(strings)
                strings.extend(name.encode() + b"\0")
            body.extend(struct.pack(">3I", PROP, len(data), string_places[name]) + data)
            pad()
        for child in node.children:
            put(child)
        body.extend(struct.pack(">I", END_NODE))

    put(root)
    body.extend(struct.pack(">I", END))
    reserved_at = HEADER.size
    struct_at = reserved_at + len(reserved)
    strings_at = struct_at + len(body)
    header = HEADER.pack(
        MAGIC, strings_at + len(strings), struct_at, strings_at, reserved_at,
        VERSION, LAST_COMPATIBLE, 0, len(strings), len(body),
    )  # fmt: skip
    return header + reserved + bytes(body) + bytes(strings)


def qemu_tree(cpus):
    """The tree of QEMU's own machine; it must be the machine that run.sh starts."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "virt.dtb")
        command = ["qemu-system-aarch64", "-machine", f"virt,gic-version=3,dumpdtb={path}"]
        command += ["-cpu", "cortex-a57", "-smp", str(cpus), "-nodefaults", "-display", "none"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            sys.exit("dtb.py: qemu-system-aarch64 is missing; as root, run vm/install.sh --test")
        if not os.path.exists(path):
            sys.exit(f"dtb.py: QEMU failed: {done.stderr.strip()}")
        with open(path, "rb") as file:
            return read_blob(file.read())


def drop_random_seeds(root):
    """QEMU dumps fresh random values; without them equal arguments give equal files."""
    chosen = root.child("chosen")
    for name in ("kaslr-seed", "rng-seed"):
        chosen.properties.pop(name, None)


def add_frequency_domain(root, name, opps, phandle):
    """A clock and an operating point table; returns their phandles."""
    clock, table = phandle, phandle + 1
    root.add(
        f"{name}-clock",
        compatible="fixed-clock",
        clock_frequency=opps[-1][0] * 1_000_000,
        **{"#clock_cells": 0},
        phandle=clock,
    )
    node = root.add(
        f"{name}-opp-table", compatible="operating-points-v2", opp_shared=True, phandle=table
    )
    for mhz, millivolt in opps:
        hertz = mhz * 1_000_000
        node.add(
            f"opp-{hertz}",
            opp_hz=[hertz >> 32, hertz & 0xFFFFFFFF],
            opp_microvolt=millivolt * 1000,
            clock_latency_ns=TRANSITION_NS,
        )
    return clock, table


def make_asymmetric(root, clusters, with_opps):
    """Gives the CPUs of the root, in order, to the clusters, in order."""
    cpus_node = root.child("cpus")
    cpus = [node for node in cpus_node.children if node.name.startswith("cpu@")]
    cpus = iter(sorted(cpus, key=lambda node: node.cell("reg")))
    free_phandle = 1 + max(n.cell("phandle") for n in root.walk() if "phandle" in n.properties)
    cpus_node.children = [node for node in cpus_node.children if node.name != "cpu-map"]
    cpu_map = cpus_node.add("cpu-map")
    for index, (name, count, capacity, opps, power) in enumerate(clusters):
        if with_opps:
            clock, table = add_frequency_domain(root, name, opps, free_phandle + 2 * index)
        cluster = cpu_map.add(f"cluster{index}")
        for core in range(count):
            cpu = next(cpus)
            cpu.set("capacity-dmips-mhz", capacity)
            cluster.add(f"core{core}", cpu=cpu.cell("phandle"))
            if with_opps:
                cpu.set("clocks", clock)
                cpu.set("operating-points-v2", table)
                cpu.set("dynamic-power-coefficient", power)
                cpu.set("#cooling-cells", 2)


def parse_opps(text):
    try:
        opps = [tuple(int(part) for part in point.split(":")) for point in text.split(",")]
        if any(len(point) != 2 or min(point) <= 0 for point in opps):
            raise ValueError
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not MHZ:MILLIVOLT[,MHZ:MILLIVOLT...]"
        ) from None
    return sorted(opps)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("--little", type=int, default=4, metavar="CPUS")
    parser.add_argument("--big", type=int, default=2, metavar="CPUS")
    parser.add_argument("--little-capacity", type=int, default=446, metavar="DMIPS_PER_MHZ")
    parser.add_argument("--big-capacity", type=int, default=1024, metavar="DMIPS_PER_MHZ")
    parser.add_argument("--opps", action="store_true", help="add the operating points of Juno r0")
    parser.add_argument("--little-opps", type=parse_opps, metavar="MHZ:MILLIVOLT,...")
    parser.add_argument("--big-opps", type=parse_opps, metavar="MHZ:MILLIVOLT,...")
    parser.add_argument("--little-power", type=int, default=LITTLE_POWER, metavar="UW_PER_MHZ_V2")
    parser.add_argument("--big-power", type=int, default=BIG_POWER, metavar="UW_PER_MHZ_V2")
    arguments = parser.parse_args()
    if arguments.little < 0 or arguments.big < 0 or arguments.little + arguments.big == 0:
        parser.error("--little and --big must name at least one CPU")
    if arguments.little_capacity <= 0 or arguments.big_capacity <= 0:
        parser.error("a capacity must be positive")
    return arguments


def main():
    arguments = parse_arguments()
    with_opps = bool(arguments.opps or arguments.little_opps or arguments.big_opps)
    little_opps = arguments.little_opps or parse_opps(LITTLE_OPPS)
    big_opps = arguments.big_opps or parse_opps(BIG_OPPS)
    little = ("little", arguments.little, arguments.little_capacity, little_opps, arguments.little_power)
    big = ("big", arguments.big, arguments.big_capacity, big_opps, arguments.big_power)
    clusters = [cluster for cluster in (little, big) if cluster[1] > 0]

    root, reserved = qemu_tree(arguments.little + arguments.big)
    drop_random_seeds(root)
    make_asymmetric(root, clusters, with_opps)
    unfinished = f"{arguments.out}.{os.getpid()}"
    with open(unfinished, "wb") as file:
        file.write(write_blob(root, reserved))
    os.replace(unfinished, arguments.out)


if __name__ == "__main__":
    main()
