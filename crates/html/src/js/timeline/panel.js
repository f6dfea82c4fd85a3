// SPDX-License-Identifier: GPL-2.0-only
// The explanation of a wakeup, beside the wakeups of the same task in the other runs.

// What a value of a column says.
function said(data, column, value) {
	if (value === alight.NONE) {
		return "–";
	}
	if (column.words) {
		return column.words[value] ?? `${value}`;
	}
	if (column.cpu) {
		return data.cpus[value] ?? `${value}`;
	}
	return column.time ? alight.exact(value) : `${value} ${column.unit}`.trim();
}

// The marks that belong together: of each run, the wakeup of the same task that is nearest in time.
alight.partners = (data, chosen) => data.runs.map((run, at) => {
	if (at === chosen.run) {
		return chosen.mark;
	}
	const { at: times, task } = data.runs[chosen.run].marks;
	const same = mark => run.marks.task[mark] === task[chosen.mark];
	return alight.nearestMark(run.marks, -1, times[chosen.mark], same);
});

// The CPU of a mark.
alight.cpuOfMark = (marks, mark) => alight.above(marks.first, 0, marks.first.length, mark) - 1;

function rows(data, chosen, marks) {
	const time = data.runs[chosen.run].marks.at[chosen.mark];
	const of = value => marks.map((mark, run) => mark < 0 ? "–" : value(data.runs[run].marks, mark));
	const away = (marks, mark) => {
		const off = marks.at[mark] - time;
		const apart = alight.exact(Math.abs(off));
		return alight.exact(marks.at[mark]) + (off ? ` (${apart} ${off < 0 ? "earlier" : "later"})` : "");
	};
	return [
		["wakeup at", of(away)],
		["CPU chosen", of((marks, mark) => data.cpus[alight.cpuOfMark(marks, mark)])],
		...data.columns.map((column, at) =>
			[column.label, of((marks, mark) => said(data, column, marks.values[at][mark]))]),
	];
}

// Fills the panel; `close` is called by its button and by Escape.
alight.explain = (panel, data, chosen, close) => {
	const { element } = alight;
	const marks = alight.partners(data, chosen);
	const task = data.tasks[data.runs[chosen.run].marks.task[chosen.mark]] ?? "?";
	const heading = element("h3", { tabindex: -1 }, `Wakeup of ${task}`);
	const head = data.runs.map((run, at) =>
		element("th", { scope: "col" }, run.name + (at === chosen.run ? " (chosen)" : "")));
	const body = rows(data, chosen, marks).map(([label, values], at) => {
		const differs = at > 0 && new Set(values).size > 1;
		const cells = values.map(value => element("td", {}, value));
		const mark = differs ? [element("span", { title: "differs" }, " ≠")] : [];
		return element("tr", differs ? { class: "differs" } : {},
			element("th", { scope: "row" }, label, ...mark), ...cells);
	});
	panel.replaceChildren(
		element("button",
			{ type: "button", "aria-label": "close the explanation", onclick: close }, "×"),
		heading,
		element("div", { class: "wide", tabindex: 0 }, element("table", {},
			element("thead", {}, element("tr", {}, element("td"), ...head)),
			element("tbody", {}, ...body))));
	if (data.runs.length > 1) {
		panel.append(element("p", { class: "note" },
			"Other runs: the wakeup of the same task that is nearest in time. ≠: the runs differ."));
	}
	panel.hidden = false;
	return { heading, marks };
};

