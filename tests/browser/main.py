# SPDX-License-Identifier: GPL-2.0-only
"""Tests pages in a browser.

main.py TOOLS OUT: TOOLS has axe and the Nu HTML checker; OUT has parts.html, large.html and
reports, and takes the pictures.
"""

import pathlib
import sys

import any_page
import plots
import speed
import timeline
from checks import Checks
from chromium import Chromium


def main(tools, out):
    out = pathlib.Path(out)
    tools = any_page.Tools(tools)
    checks = Checks()
    parts = out / "parts.html"
    reports = [page for page in sorted(out.glob("*.html"))
               if page.stem not in ("parts", "large", "bad", "injected")]
    with Chromium() as browser:
        checks.all_of("faults", [any_page.check_the_checks], browser, tools, reports[0], out)
        checks.all_of("policy", [any_page.check_the_policy], browser, parts, out)
        for page in [parts, *reports]:
            checks.all_of(page.stem, [any_page.check], browser, tools, page, out)
        browser.open(parts)
        checks.all_of("timeline", timeline.CHECKS, browser, parts)
        for page in reports:
            browser.open(page)
            if len(browser.all(timeline.CANVAS)) > 1:
                checks.all_of(page.stem, timeline.OF_ANY_PAGE, browser, page)
        browser.open(parts)
        checks.all_of("plots", plots.CHECKS, browser, parts)
        checks.all_of("speed", [speed.check], browser, out)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
