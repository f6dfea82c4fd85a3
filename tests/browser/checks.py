# SPDX-License-Identifier: GPL-2.0-only
"""One line for each check; what was counted comes last."""


class Checks:
    """Counts checks, and prints them."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def that(self, name, holds, found=""):
        """Says that a check holds, or what was found instead."""
        if holds:
            self.passed += 1
            print(f"ok    {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {name}: found {found!r}", flush=True)

    def equal(self, name, expected, found):
        self.that(name, expected == found, {"expected": expected, "found": found})

    def all_of(self, group, steps, *arguments):
        """Runs steps; what one raises is its failure, and the next one runs."""
        for step in steps:
            try:
                step(self, *arguments)
            except Exception as error:  # whatever a browser may say
                text = str(error).splitlines()[0] if str(error) else repr(error)
                self.that(f"{group}: {step.__name__.replace('_', ' ')}", False, text)

    def close(self):
        print(f"browser: {self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
