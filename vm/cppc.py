#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ACPI table of an amd64 guest whose firmware ranks its CPUs (CPPC).

Gives each CPU of QEMU's q35 machine an object `_CPC` (ACPI 6.5, 8.4.6.1) with a highest performance of
its own. With CPUs of AMD, amd-pstate ranks them by it (`amd_detect_prefcore`), and the kernel's
scheduling domains follow (SD_ASYM_PACKING, arch/x86/kernel/itmt.c). What the kernel writes to ask for a
frequency goes to a page of memory that nobody reads: all CPUs are as fast as the emulator.

  vm/cppc.py OUT HIGHEST[,HIGHEST...]

HIGHEST is of one CPU, 96 to 255; 64 CPUs at most. Prints what the kernel's command line needs beside
the table. Needs iasl.
"""

import subprocess
import sys
import tempfile

REGISTERS, REGISTERS_OF_CPU = 0x10000000, 0x40
PAGE = 0x1000
# The page of the registers is not the kernel's own; amd-pstate takes no server by itself; 7.2 wants a
# feature of CPUs that QEMU does not emulate.
COMMAND_LINE = f"memmap={PAGE:#x}${REGISTERS:#x} amd_pstate=passive setcpuid=hw_pstate"
NOMINAL, LOWEST_NONLINEAR, LOWEST = 0x60, 0x30, 0x10
LOWEST_MHZ, NOMINAL_MHZ = 400, 2400


def register(address):
    """A word of memory; none for the address 0."""
    bits = 32 if address else 0
    return f"ResourceTemplate () {{ Register (SystemMemory, {bits}, 0, {address:#x}, {3 if address else 0}) }}"


def performance(cpu, highest):
    """The object of one CPU, its fields in the order of revision 3."""
    base = REGISTERS + cpu * REGISTERS_OF_CPU
    desired, low, high, reference, delivered, limited, enable = (base + 4 * n for n in range(7))
    none = register(0)
    fields = [23, 3, highest, NOMINAL, LOWEST_NONLINEAR, LOWEST, none]
    fields += [register(at) for at in (desired, low, high)]
    fields += [none] * 3
    fields += [register(at) for at in (reference, delivered, limited, enable)]
    fields += [none] * 3
    fields += [NOMINAL, LOWEST_MHZ, NOMINAL_MHZ]
    device = f"\\_SB.CPUS.C{cpu:03X}"
    return f"""
External ({device}, DeviceObj)
Scope ({device}) {{ Name (_CPC, Package ({len(fields)}) {{ {", ".join(map(str, fields))} }}) }}"""


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: vm/cppc.py OUT HIGHEST[,HIGHEST...]")
    out, ranks = sys.argv[1], sys.argv[2].split(",")
    if len(ranks) > PAGE // REGISTERS_OF_CPU:
        sys.exit(f"vm/cppc.py: {len(ranks)} CPUs, of {PAGE // REGISTERS_OF_CPU} at most")
    for rank in ranks:
        if not (rank.isdecimal() and NOMINAL <= int(rank) <= 255):
            sys.exit(f"vm/cppc.py: '{rank}' is no highest performance, which is a number from {NOMINAL} to 255")
    objects = "".join(performance(cpu, int(rank)) for cpu, rank in enumerate(ranks))
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/cppc.asl"
        with open(source, "w") as file:
            file.write(f'DefinitionBlock ("", "SSDT", 2, "ALIGHT", "CPPC", 1)\n{{{objects}\n}}\n')
        made = subprocess.run(["iasl", "-p", out.removesuffix(".aml"), source], capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit(f"vm/cppc.py: iasl: {made.stdout}{made.stderr}")
    print(COMMAND_LINE)


main()
