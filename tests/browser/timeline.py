# SPDX-License-Identifier: GPL-2.0-only
"""What a timeline does for its user."""

import json
import re

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import any_page

CANVAS = ".timeline canvas"


def first(browser):
    """The first timeline of the page: of eight CPUs."""
    return browser.one(".timeline")


def view(browser):
    """What is in view: from, to, time, CPU, lane, scroll."""
    return browser.js("return {...document.querySelector('.timeline').timeline.view}")


def start(browser):
    """Everything in view, no explanation, no cursor; keys act on the first CPU with wakeups."""
    browser.js(
        "const t = document.querySelector('.timeline').timeline, {first} = t.data.runs[0].marks;"
        "const cpu = first.findIndex((from, cpu) => from < first[cpu + 1]);"
        "t.close(); t.view.time = null; t.view.cpu = Math.max(0, cpu); t.act('all');"
        "document.activeElement.blur();"
        "scrollTo(0, document.querySelector('.timeline').offsetTop)"
    )
    browser.drawn()


def picture_of(browser, at):
    """The pixels of a run, in short."""
    return browser.js(
        "const {canvas, context} = document.querySelector('.timeline').timeline"
        f".drawings[{at}];"
        "const {data} = context.getImageData(0, 0, canvas.width, canvas.height);"
        "let hash = 0; for (const byte of data) hash = Math.imul(hash ^ byte, 16777619) >>> 0;"
        "return hash"
    )


def place(browser, at=0):
    """Where a canvas is in the window."""
    return browser.js(
        f"return document.querySelectorAll('{CANVAS}')[{at}].getBoundingClientRect().toJSON()"
    )


def press(browser, *keys, canvas=0):
    target = browser.all(CANVAS)[canvas]
    browser.js("arguments[0].focus({preventScroll: true})", target)
    ActionChains(browser.driver).send_keys(*keys).perform()
    browser.drawn()


def it_holds_what_the_page_says_without_scripts(checks, browser, page):
    """The tables under <noscript> are made by Rust, the numbers here by the unpacked columns."""
    short = re.search(r"<noscript>(.*?)</noscript>", page.read_text(), re.S).group(1)
    rows = re.findall(r"<tr>(.*?)</tr>", short)
    cells = [re.sub("<[^>]*>", "|", row).split("|") for row in rows]
    told = {row[1]: [cell for cell in row[2:] if cell] for row in cells if len(row) > 2}
    runs = browser.js(
        "const {data} = document.querySelector('.timeline').timeline;"
        "return data.runs.map(run => ({"
        " name: run.name, slices: run.slices.task.length, marks: run.marks.task.length,"
        " busy: run.slices.end.reduce((sum, end, at) => sum + end - run.slices.start[at], 0)"
        "   / (run.end - data.start) / (run.slices.first.length - 1) * 100 }))"
    )
    for run in runs:
        found = [str(run["slices"]), str(run["marks"])]
        checks.equal(f"slices and wakeups of {run['name']}", told[run["name"]][1:3], found)
        near = abs(float(told[run["name"]][3]) - run["busy"]) <= 0.11
        checks.that(f"busy time of {run['name']}", near, run["busy"])


def dragging_one_moves_the_other(checks, browser, _):
    start(browser)
    press(browser, "+", "+")
    before, pictures = view(browser), [picture_of(browser, at) for at in (0, 1)]
    canvas = browser.all(CANVAS)[0]
    chain = ActionChains(browser.driver).move_to_element(canvas).click_and_hold()
    chain.move_by_offset(-60, 0).move_by_offset(-60, 0).release().perform()
    browser.drawn()
    after = view(browser)
    gutter, width = browser.js(
        "const d = document.querySelector('.timeline').timeline.drawings[0];"
        "return [d.gutter, d.width]"
    )
    moved = 120 * (before["to"] - before["from"]) / (width - gutter)
    found = after["from"] - before["from"]
    checks.that("dragged by 120 pixels", abs(found - moved) < moved / 50, [moved, found])
    for at, name in enumerate(["dragged", "other"]):
        checks.that(f"the {name} run is drawn anew", picture_of(browser, at) != pictures[at])
    checks.that("a drag explains nothing", not browser.one(".timeline .panel").is_displayed())


def a_wheel_zooms_where_it_is_after_a_click_only(checks, browser, _):
    start(browser)

    def wheel():
        before, box = view(browser), place(browser, 1)
        x, y = box["x"] + box["width"] / 2, box["y"] + 100
        browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
        browser.drawn()
        browser.drawn()
        return (view(browser)["to"] - view(browser)["from"]) / (before["to"] - before["from"])

    checks.equal("without focus it is the page's", 1, wheel())
    browser.js("scrollTo(0, document.querySelector('.timeline').offsetTop)")
    press(browser, Keys.SHIFT, canvas=1)
    found = wheel()
    checks.that("with focus it zooms in", 0.5 < found < 0.9, found)


# Keys, and what they do to the view.
KEYS = [
    ("+", "zooms in", lambda a, b: b["to"] - b["from"] < a["to"] - a["from"]),
    ("=", "zooms in", lambda a, b: b["to"] - b["from"] < a["to"] - a["from"]),
    ("-", "zooms out", lambda a, b: b["to"] - b["from"] > a["to"] - a["from"]),
    ("ARROW_RIGHT", "pans later", lambda a, b: b["from"] > a["from"] and b["time"] > a["time"]),
    ("ARROW_LEFT", "pans earlier", lambda a, b: b["from"] < a["from"]),
    ("ARROW_DOWN", "goes down a CPU", lambda a, b: b["cpu"] == a["cpu"] + 1),
    ("ARROW_UP", "goes up a CPU", lambda a, b: b["cpu"] == a["cpu"] - 1),
    ("HOME", "goes to the start", lambda a, b: b["from"] == 0),
    ("END", "goes to the end", lambda a, b: b["to"] > a["to"]),
    ("0", "shows all", lambda a, b: b["from"] == 0 and b["to"] > a["to"]),
    ("n", "goes to the next wakeup", lambda a, b: b["time"] > a["time"]),
    ("p", "goes to the wakeup before", lambda a, b: b["time"] < a["time"]),
    ("]", "makes lanes taller", lambda a, b: b["lane"] > a["lane"]),
    ("[", "makes lanes flatter", lambda a, b: b["lane"] < a["lane"]),
]


def every_key_does_what_the_help_says(checks, browser, _):
    for key, does, holds in KEYS:
        start(browser)
        press(browser, "+", "+", "+", Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        before = view(browser)
        press(browser, getattr(Keys, key, key))
        after = view(browser)
        checks.that(f"{key} {does}", holds(before, after), [before, after])
        if key == "]":
            press(browser, "[")


def every_button_is_reached_and_does_something(checks, browser, _):
    for button in first(browser).find_elements("css selector", "[data-action]"):
        if not button.is_displayed():
            continue  # all CPUs are used
        start(browser)
        press(browser, "+", "+", "+")
        before = view(browser)
        browser.js("arguments[0].focus()", button)
        ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
        browser.drawn()
        label = button.get_attribute("aria-label")
        checks.that(f"the button '{label}' does something", view(browser) != before)
    start(browser)


def explained(browser):
    """The rows of the explanation: label to values."""
    rows = browser.js(
        "return [...document.querySelectorAll('.timeline .panel tr')].map(row =>"
        " [...row.children].map(cell => cell.textContent))"
    )
    return {row[0].replace(" ≠", ""): row[1:] for row in rows}


COLUMNS = ["wakeup at", "CPU chosen", "step", "previous CPU", "CPU of the base", "looked at"]


def a_click_on_a_wakeup_explains_it(checks, browser, _):
    start(browser)
    browser.js("document.querySelector('.timeline').timeline.show(5e7, 5e7 + 4e5)")
    browser.drawn()
    at = browser.js(
        "const t = document.querySelector('.timeline').timeline, {marks} = t.data.runs[0];"
        "for (let cpu = 0; cpu < t.data.cpus.length; cpu++)"
        " for (let m = marks.first[cpu]; m < marks.first[cpu + 1]; m++)"
        "  if (marks.at[m] > 5.005e7 && marks.at[m] < 5.035e7) return {"
        "   x: t.drawings[0].xOf(marks.at[m], t.view), y: 20 + cpu * t.view.lane + 3, cpu,"
        "   time: marks.at[m], task: t.data.tasks[marks.task[m]] }"
    )
    box = place(browser)
    browser.click(box["x"] + at["x"], box["y"] + at["y"])
    panel = browser.one(".timeline .panel")
    checks.that("the explanation appears", panel.is_displayed())
    heading = panel.find_element("tag name", "h3").text
    checks.equal("of that task", f"Wakeup of {at['task']}", heading)
    rows = explained(browser)
    checks.equal("on that CPU", f"CPU {at['cpu']}", rows["CPU chosen"][0])
    time = float(rows["wakeup at"][0].removesuffix(" ms"))
    checks.that("at that time", abs(time - at["time"] / 1e6) < 1e-6, [time, at])
    missing = [label for label in COLUMNS if label not in rows]
    checks.equal("with all columns", [], missing)
    checks.that("beside the other run's", "later" in rows["wakeup at"][1]
                or "earlier" in rows["wakeup at"][1], rows["wakeup at"])
    checks.that("no value is a bare number of none", "4294967295" not in json.dumps(rows), rows)


def a_click_on_a_slice_explains_what_woke_it(checks, browser, _):
    start(browser)
    found = browser.js(
        "const t = document.querySelector('.timeline').timeline, {slices, marks} = t.data.runs[1];"
        "const at = slices.first[2] + 500, middle = (slices.start[at] + slices.end[at]) / 2;"
        "const mark = t.markAt(1, middle, 2, 0);"
        "return [marks.task[mark] === slices.task[at], marks.at[mark] <= slices.start[at]]"
    )
    checks.equal("its task, before it began", [True, True], found)


def keys_explain_and_close(checks, browser, _):
    start(browser)
    press(browser, "+", "+", "+", "n", Keys.ENTER)
    panel = browser.one(".timeline .panel")
    checks.that("Enter opens the explanation", panel.is_displayed())
    heading = browser.js("return document.activeElement.textContent")
    checks.that("the focus is on it", heading.startswith("Wakeup of "), heading)
    announced = browser.one(".timeline .at").get_attribute("aria-live")
    checks.equal("the position is announced", "polite", announced)
    ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
    browser.drawn()
    checks.that("Escape closes it", not panel.is_displayed())
    back = browser.js("return document.activeElement.getAttribute('aria-roledescription')")
    checks.equal("the focus is back", "timeline", back)


def the_cursor_is_told_for_all_runs(checks, browser, _):
    start(browser)
    canvas = browser.all(CANVAS)[0]
    before = picture_of(browser, 1)
    ActionChains(browser.driver).move_to_element(canvas).perform()
    browser.drawn()
    text = browser.one(".timeline .at").text
    names = browser.js(
        "return document.querySelector('.timeline').timeline.data.runs.map(run => run.name)"
    )
    checks.that("the line names both runs", all(f"{name}: " in text for name in names), text)
    cpu = browser.js(
        "const {view, data} = document.querySelector('.timeline').timeline;"
        "return data.cpus[view.cpu]"
    )
    checks.that("and the CPU", f", {cpu}" in text, text)
    checks.that("the cursor is drawn in the other run", picture_of(browser, 1) != before)


def names_of_cpus_are_whole_on_a_telephone(checks, browser, page):
    browser.open(page, any_page.WIDTHS["narrow"], False)
    cut = browser.js(
        "const {drawings, data} = document.querySelector('.timeline').timeline;"
        "return drawings.flatMap(drawing => data.cpus.map((_, cpu) => drawing.label(cpu)))"
        ".filter(label => label.includes('…'))"
    )
    checks.equal("no name of a CPU is cut", [], cut)
    browser.open(page)


# What holds for the first timeline of any page that has two runs.
OF_ANY_PAGE = [
    names_of_cpus_are_whole_on_a_telephone,
    it_holds_what_the_page_says_without_scripts,
    dragging_one_moves_the_other,
    a_wheel_zooms_where_it_is_after_a_click_only,
    every_button_is_reached_and_does_something,
    keys_explain_and_close,
    the_cursor_is_told_for_all_runs,
]


def a_task_of_the_legend_stands_out(checks, browser, _):
    start(browser)
    button = browser.one(".timeline .legend button")
    before = picture_of(browser, 0)
    button.click()
    browser.drawn()
    checks.equal("pressed", "true", button.get_attribute("aria-pressed"))
    checks.that("the runs look different", picture_of(browser, 0) != before)
    button.click()
    browser.drawn()
    listed = first(browser).find_elements("css selector", ".legend button")
    checks.equal("twelve tasks are listed", 12, len(listed))
    checks.that("the others are counted", "and 28 others" in browser.one(".timeline .legend").text)


def fingers_pan_and_pinch(checks, browser, _):
    start(browser)
    press(browser, "+", "+")
    box = place(browser)
    x, y = box["x"] + 300, box["y"] + 100
    before = view(browser)
    browser.touch("touchStart", (x, y))
    for step in (30, 60, 90):
        browser.touch("touchMove", (x - step, y))
    browser.touch("touchEnd")
    browser.drawn()
    after = view(browser)
    checks.that("one finger pans", after["from"] > before["from"], [before, after])
    browser.touch("touchStart", (x - 50, y), (x + 50, y))
    for step in (10, 20, 40):
        browser.touch("touchMove", (x - 50 - step, y), (x + 50 + step, y))
    browser.touch("touchEnd")
    browser.drawn()
    narrower = view(browser)
    spans = [value["to"] - value["from"] for value in (after, narrower)]
    checks.that("two fingers zoom", 0.3 < spans[1] / spans[0] < 0.9, spans)


def lanes_of_many_cpus_scroll_together(checks, browser, _):
    """The second timeline has 384 CPUs, more than there is room for."""
    view = "document.querySelectorAll('.timeline')[1].timeline.view"
    tops = (
        "return document.querySelectorAll('.timeline')[1].timeline.boxes"
        ".map(box => box.scrollTop)"
    )
    canvas = browser.all(CANVAS)[2]
    browser.js("arguments[0].scrollIntoView()", canvas)
    press(browser, *[Keys.ARROW_DOWN] * 250, canvas=2)
    browser.drawn()
    found = browser.js(tops)
    checks.that("keys scroll both", found[0] > 0 and found[0] == found[1], found)
    text = browser.js("return document.querySelectorAll('.timeline .at')[1].textContent")
    cpu = browser.js(f"return {view}.shown[250]")
    checks.that("the CPU is told", f"CPU {cpu}:" in text.replace(" ·", ":"), [text, cpu])
    browser.js("document.querySelectorAll('.timeline .lanes')[3].scrollTop = 40")
    browser.drawn()
    checks.equal("the scroll bar of one moves the other", [40, 40], browser.js(tops))
    shown = [browser.js(f"return {view}.shown.length")]
    for _ in range(2):
        press(browser, "u", canvas=2)
        shown.append(browser.js(f"return {view}.shown.length"))
    checks.equal("u shows all CPUs, or those in use", [336, 384, 336], shown)


def themes_and_printing_have_their_colours(checks, browser, _):
    corner = (
        "return [...document.querySelector('.timeline canvas').getContext('2d')"
        ".getImageData(0, 0, 1, 1).data]"
    )
    found = {}
    browser.theme(True)
    browser.drawn()
    found["dark"] = browser.js(corner)[0]
    browser.js("dispatchEvent(new Event('beforeprint'))")
    found["printed"] = browser.js(corner)[0]
    browser.js("dispatchEvent(new Event('afterprint'))")
    found["dark again"] = browser.js(corner)[0]
    browser.theme(False)
    browser.drawn()
    found["light"] = browser.js(corner)[0]
    dark = [name for name, value in found.items() if value < 128]
    checks.equal("dark paper", ["dark", "dark again"], dark)


# What holds for the page of made-up runs.
CHECKS = [
    *OF_ANY_PAGE,
    every_key_does_what_the_help_says,
    a_click_on_a_wakeup_explains_it,
    a_click_on_a_slice_explains_what_woke_it,
    a_task_of_the_legend_stands_out,
    fingers_pan_and_pinch,
    lanes_of_many_cpus_scroll_together,
    themes_and_printing_have_their_colours,
]
