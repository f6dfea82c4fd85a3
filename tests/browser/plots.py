# SPDX-License-Identifier: GPL-2.0-only
"""What charts and heat maps do for their users, and what is left without scripts."""

import re

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys


def told(browser, part):
    return browser.one(f"{part} .at").text


def press(browser, selector, *keys):
    browser.js("arguments[0].focus()", browser.one(selector))
    ActionChains(browser.driver).send_keys(*keys).perform()
    browser.drawn()


def a_chart_tells_all_lines_by_mouse_and_keys(checks, browser, _):
    plot = browser.one(".chart .canvas")
    ActionChains(browser.driver).move_to_element(plot).perform()
    browser.drawn()
    by_mouse = told(browser, ".chart")
    checks.that("by mouse", by_mouse.count("linux-6.1") == 2 and "µs" in by_mouse, by_mouse)
    press(browser, ".chart .canvas", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    by_key = told(browser, ".chart")
    checks.that("by key", by_key != by_mouse and by_key.count("linux-6.1") == 2, by_key)


def a_chart_tells_the_values_of_its_points(checks, browser, _):
    """Point 1900 of 2000 of the first line is its p95."""
    browser.js(
        "const {plot, chart} = document.querySelector('.chart').chart;"
        "const place = Math.log10(chart.lines[0].x[1899] * 1.0000001);"
        "plot.setCursor({left: plot.valToPos(place, 'x'), top: 0})"
    )
    text = told(browser, ".chart")
    value = float(re.search(r"linux-6\.1: ([0-9.]+)", text).group(1))
    checks.that("the 95 %", abs(value - 0.95) < 0.003, text)


def a_chart_zooms_by_keys(checks, browser, _):
    spans = (
        "const {min, max} = document.querySelector('.chart').chart.plot.scales.x;"
        "return max - min"
    )
    before = browser.js(spans)
    press(browser, ".chart .canvas", "+", "+")
    near = browser.js(spans)
    press(browser, ".chart .canvas", "0")
    checks.that("+ zooms in", near < before * 0.6, [before, near])
    checks.equal("0 shows all", before, browser.js(spans))


def a_line_can_be_hidden(checks, browser, _):
    button = browser.one(".chart .key button")
    button.click()
    shown = "return document.querySelector('.chart').chart.plot.series.map(line => line.show)"
    checks.equal("hidden", [True, False, True], browser.js(shown))
    button.click()
    checks.equal("shown again", [True, True, True], browser.js(shown))


def a_heat_map_tells_the_cell_of_all_maps(checks, browser, _):
    browser.js("arguments[0].scrollIntoView()", browser.one(".heat"))
    press(browser, ".heat canvas", Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    text = told(browser, ".heat")
    counts = browser.js(
        "const {cell, counts, names} = document.querySelector('.heat').heat;"
        "return counts.map(map => map[cell[0] * names.length + cell[1]].toLocaleString('en'))"
    )
    checks.that("the cell", "from CPU 0, to CPU 2" in text, text)
    for name, count in zip(["linux-6.1", "linux-6.1+bias-prev"], counts):
        checks.that(f"the count of {name}", f"{name}: {count}" in text, text)
    ActionChains(browser.driver).move_to_element(browser.all(".heat canvas")[1]).perform()
    checks.that("by mouse", told(browser, ".heat") != text, text)


def a_heat_map_holds_what_its_table_says(checks, browser, page):
    sums = browser.js(
        "return [...document.querySelectorAll('.heat')].slice(0, 2).map(part =>"
        " part.heat.counts.map(counts => String(counts.reduce((sum, count) => sum + count))))"
    )
    tables = browser.js(
        "return [...document.querySelectorAll('.heat')].slice(0, 2).map(part =>"
        " [...part.querySelectorAll('td')].map(cell => cell.textContent))"
    )
    checks.equal("sums of all maps", tables, sums)


def without_scripts_tables_say_it(checks, browser, page):
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get(page.resolve().as_uri())
        text = browser.one("main").text
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    for part, words in [("timelines", "CPUs busy, %"), ("charts", "p99.9, µs")]:
        checks.that(f"tables of {part}", words in text, text[:400])
    checks.that("and no controls", "Keys and mouse" not in text)


CHECKS = [
    a_chart_tells_all_lines_by_mouse_and_keys,
    a_chart_tells_the_values_of_its_points,
    a_chart_zooms_by_keys,
    a_line_can_be_hidden,
    a_heat_map_tells_the_cell_of_all_maps,
    a_heat_map_holds_what_its_table_says,
    without_scripts_tables_say_it,
]
