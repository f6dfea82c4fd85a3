# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Chromium, driven: pages opened from disk, keys, pointers, logs, pictures."""

import base64
import json
import pathlib
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

# How long a page may take on a machine that is busy, s.
PATIENCE = 60

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",  # tests run as root
    "--disable-gpu",  # frames are drawn by software
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


class Chromium:
    """A browser with one page."""

    def __init__(self):
        options = Options()
        options.binary_location = "/usr/bin/chromium"
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.width = 1280

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def open(self, page, width=1280, dark=False):
        """Opens a file, and waits until its scripts have drawn."""
        self.width = width
        self.size(width, 900)
        self.theme(dark)
        # What was logged until here is not this page's.
        self.driver.get("about:blank")
        self.console()
        self.requests()
        self.driver.get(pathlib.Path(page).resolve().as_uri())
        self.until(
            "return [...document.querySelectorAll('.timeline')].every(part => part.timeline)"
            " && [...document.querySelectorAll('.heat')].every(part => part.heat)"
        )

    def theme(self, dark):
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", features=[theme])

    def size(self, width, height):
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def later(self, script, *arguments):
        """The result of a script that calls back."""
        self.driver.set_script_timeout(PATIENCE)
        return self.driver.execute_async_script(script, *arguments)

    def until(self, script):
        """Waits until a script returns something true."""
        end = time.monotonic() + PATIENCE
        while not self.js(script):
            if time.monotonic() > end:
                raise AssertionError(f"after {PATIENCE} s still not: {script}")
            time.sleep(0.05)

    def drawn(self):
        """Waits until the next frame is drawn."""
        self.later(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def console(self):
        """What the console says, since it was asked last."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def network(self):
        """What the network was asked for since it was asked last."""
        events = [json.loads(entry["message"])["message"] for entry in
                  self.driver.get_log("performance")]
        return [(event["method"], event["params"]) for event in events]

    def requests(self):
        """Addresses that the page asked for, since they were asked for last, without its own."""
        found = [what["request"]["url"] for method, what in self.network()
                 if method == "Network.requestWillBeSent"]
        return [url for url in found if url != self.driver.current_url]

    def picture(self, file):
        """The whole page as a PNG."""
        height = self.js("return document.documentElement.scrollHeight")
        self.size(self.width, min(height, 8000))
        self.drawn()
        self.drawn()
        shot = self.cdp("Page.captureScreenshot", format="png")
        pathlib.Path(file).write_bytes(base64.b64decode(shot["data"]))
        self.size(self.width, 900)
        self.drawn()

    def pdf(self, file):
        printed = self.cdp("Page.printToPDF", printBackground=False)
        pathlib.Path(file).write_bytes(base64.b64decode(printed["data"]))

    def mouse(self, kind, x, y, **more):
        self.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        """A click at this place of the window."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.drawn()

    def touch(self, kind, *points):
        places = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)]
        self.cdp("Input.dispatchTouchEvent", type=kind, touchPoints=places)
