# SPDX-License-Identifier: GPL-2.0-only
"""What holds for every page: it asks for nothing, is quiet, correct, and usable by all."""

import json
import pathlib
import re
import subprocess

WIDTHS = {"wide": 1280, "narrow": 390}
THEMES = {"light": False, "dark": True}


class Tools:
    """axe and the Nu HTML checker."""

    def __init__(self, folder):
        modules = pathlib.Path(folder) / "node_modules"
        self.axe = (modules / "axe-core/axe.min.js").read_text()
        self.vnu = modules / "vnu-jar/build/dist/vnu.jar"

    def html_errors(self, page):
        """What the checker calls an error."""
        run = ["java", "-jar", str(self.vnu), "--format", "json", "--exit-zero-always", str(page)]
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        messages = json.loads(done.stderr)["messages"]
        errors = [entry for entry in messages if entry["type"] in ("error", "non-document-error")]
        return [entry["message"] for entry in errors]

    def barriers(self, browser):
        """Violations that are serious or critical: rule and element."""
        # The page's policy stops scripts that it does not know, not those of its driver.
        browser.js(self.axe)
        result = browser.later("axe.run().then(arguments[0])")
        return [
            f"{violation['id']}: {violation['nodes'][0]['html'][:120]}"
            for violation in result["violations"]
            if violation["impact"] in ("serious", "critical")
        ]


def check(checks, browser, tools, page, out):
    """All that holds for every page, in both themes and widths."""
    name = page.stem
    checks.equal(f"{name}: the Nu HTML checker finds no error", [], tools.html_errors(page))
    for width, pixels in WIDTHS.items():
        for theme, dark in THEMES.items():
            browser.open(page, pixels, dark)
            where = f"{name}, {width}, {theme}"
            checks.equal(f"{where}: no request leaves the page", [], browser.requests())
            checks.equal(f"{where}: the console is empty", [], browser.console())
            barriers = tools.barriers(browser)
            checks.equal(f"{where}: axe finds nothing serious", [], barriers)
            over = browser.js("return document.documentElement.scrollWidth - innerWidth")
            checks.that(f"{where}: nothing sticks out at the side", over <= 0, over)
            browser.picture(out / f"{name}-{width}-{theme}.png")
            browser.console()
    browser.open(page)
    browser.pdf(out / f"{name}.pdf")
    checks.equal(f"{name}: quiet when printed", [], browser.console())


def check_the_checks(checks, browser, tools, page, out):
    """Planted faults are found: these checks can fail."""
    bad = out / "bad.html"
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    faults = '<img src="http://127.0.0.1:9/x.png"><img><script>console.error("planted")</script>'
    bad.write_text(text.replace("</main>", faults + "</main>"))
    browser.open(bad)
    checks.equal("planted: a request", ["http://127.0.0.1:9/x.png"], browser.requests())
    console = browser.console()
    checks.that("planted: a message", any("planted" in line for line in console), console)
    barriers = tools.barriers(browser)
    found = any(barrier.startswith("image-alt") for barrier in barriers)
    checks.that("planted: a picture without words", found, barriers)
    errors = tools.html_errors(bad)
    checks.that("planted: an element without its attribute", len(errors) >= 1, errors)


def check_the_policy(checks, browser, page, out):
    """A script or picture that gets into a page does nothing: the policy stops it."""
    injected = out / "injected.html"
    faults = '<img alt="" src="http://127.0.0.1:9/x.png"><script>document.title = "run"</script>'
    injected.write_text(page.read_text().replace("</main>", faults + "</main>"))
    browser.open(injected)
    checks.that("the policy stops foreign scripts", browser.driver.title != "run", "it ran")
    stopped = [what.get("blockedReason") for method, what in browser.network()
               if method == "Network.loadingFailed"]
    checks.equal("the policy stops requests", ["csp"], stopped)
