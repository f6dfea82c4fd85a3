// SPDX-License-Identifier: GPL-2.0-only
// Draws charts with uPlot. Values are put on a logarithmic or a tail scale here, before uPlot sees
// them; so all its scales are even.
"use strict";

const HEIGHT = 280;
// Lines differ by their dashes as well as by their hues.
const HUES = [255, 45, 150, 330, 95, 200];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 5]];
const hueOf = line => HUES[line % HUES.length];
const dashOf = line => DASHES[(line + Math.floor(line / HUES.length)) % DASHES.length];

// Numbers with four digits that count.
const said = value => value.toLocaleString("en", { maximumSignificantDigits: 4 });
// Probabilities with two digits of what is missing to 1.
const saidTail = value => {
	const digits = value < 1 ? Math.max(2, Math.ceil(-Math.log10(1 - value)) + 1) : 0;
	return value.toFixed(Math.min(digits, 9)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
};

// Labels of a logarithmic axis: powers of 10, and 2 and 5 times them where there is room.
function logSplits(min, max) {
	const factors = max - min > 4 ? [1] : max - min > 1.5 ? [1, 3] : [1, 2, 3, 5, 7];
	const splits = [];
	for (let power = Math.floor(min); power <= max; power++) {
		splits.push(...factors.map(factor => power + Math.log10(factor)));
	}
	return splits.filter(split => split >= min && split <= max);
}

// Each scale: from a value to its place, and back; where labels are, and what they say.
const SCALES = {
	linear: { place: v => v, value: at => at, said },
	log: { place: v => v > 0 ? Math.log10(v) : null, value: at => 10 ** at, said, splits: logSplits },
	tail: {
		place: p => p < 1 ? -Math.log10(1 - Math.max(0, p)) : Infinity,
		value: at => 1 - 10 ** -at,
		said: saidTail,
		splits(min, max) {
			const places = [0, -Math.log10(0.5), ...Array.from({ length: 15 }, (_, nines) => nines + 1)];
			return places.filter(place => place >= min && place < max - 0.2);
		},
	},
};

// The lines on their scales: { x, y }, rising in x. `end`: the place of what is infinitely far.
function placed(chart) {
	const [x, y] = [SCALES[chart.x.scale], SCALES[chart.y.scale]];
	const lines = chart.lines.map(line => {
		const points = line.x.map((value, at) => [x.place(value), y.place(line.y[at])])
			.filter(point => !point.includes(null));
		return { x: points.map(point => point[0]), y: points.map(point => point[1]) };
	});
	const farthest = lines.flatMap(line => line.y).filter(Number.isFinite)
		.reduce((most, place) => Math.max(most, place), 0);
	const end = chart.y.scale === "tail" ? farthest + 0.4 : Infinity;
	for (const line of lines) {
		line.y = line.y.map(place => Math.min(place, end));
	}
	return { lines, end };
}

// The place of a line's value at this place of x, or null outside of the line.
function at(line, x, stepped) {
	let next = line.x.findIndex(place => place > x);
	next = next < 0 ? line.x.length : next;
	if (next === 0 || next === line.x.length && x > line.x[next - 1] && !stepped) {
		return null;
	}
	const before = line.y[next - 1];
	if (stepped || next === line.x.length) {
		return before;
	}
	const part = (x - line.x[next - 1]) / (line.x[next] - line.x[next - 1]);
	return before + part * (line.y[next] - before);
}

class Chart {
	constructor(root) {
		this.chart = JSON.parse(root.querySelector("script.head").textContent);
		Object.assign(this, placed(this.chart));
		this.root = root;
		this.box = root.querySelector(".canvas");
		this.line = root.querySelector(".at");
		root.querySelector(".scripted").hidden = false;
		this.theme();
		this.plot = new uPlot(this.options(), this.data(), this.box);
		this.key();
		new ResizeObserver(() => this.resize()).observe(this.box);
		alight.onTheme(() => {
			this.theme();
			this.plot.redraw(false);
			this.paintKey();
		});
		this.box.addEventListener("keydown", event => this.pressed(event));
	}

	theme() {
		const lightness = alight.isDark() ? 0.76 : 0.52;
		this.colours = this.chart.lines.map((_, at) =>
			alight.css(alight.oklch(lightness, 0.14, hueOf(at))));
		this.ink = alight.css(alight.colour("soft"));
		this.grid = alight.css(alight.colour("line"));
	}

	data() {
		const tables = this.lines.map(line => [line.x, line.y]);
		return tables.length > 0 ? uPlot.join(tables) : [[]];
	}

	options() {
		const { chart } = this;
		const axis = (which, side) => {
			const scale = SCALES[chart[which].scale];
			const { label, unit } = chart[which];
			return {
				label: unit ? `${label}, ${unit}` : label,
				side, labelSize: 24, size: side === 3 ? 64 : 34, font: "12px system-ui, sans-serif",
				labelFont: "12px system-ui, sans-serif", space: side === 3 ? 28 : 64,
				stroke: () => this.ink, grid: { stroke: () => this.grid, width: 1 },
				ticks: { stroke: () => this.grid, width: 1 },
				splits: scale.splits ? (_, at, min, max) => this.splits(which, scale, min, max) : undefined,
				values: (_, splits) => splits.map(at => at >= this.end && which === "y"
					? "1" : scale.said(scale.value(at))),
			};
		};
		const series = chart.lines.map((line, n) => ({
			label: line.name, scale: "y", spanGaps: true, width: 2, points: { show: line.x.length === 1 },
			stroke: () => this.colours[n], dash: dashOf(n),
			paths: chart.stepped ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear(),
		}));
		const even = (_, min, max) => min === max ? [min - 1, max + 1] : [min, max];
		const fromZero = (_, min, max) => chart.y.scale === "tail" ? [0, this.end]
			: chart.y.scale === "log" ? even(_, min, max) : [Math.min(0, min), max > 0 ? max * 1.05 : 1];
		return {
			width: this.box.clientWidth || 600, height: HEIGHT, legend: { show: false },
			scales: { x: { time: false, range: even }, y: { range: fromZero } },
			axes: [axis("x", 2), axis("y", 3)],
			series: [{}, ...series],
			cursor: { y: false, drag: { x: true, y: false }, points: { size: 7 } },
			hooks: { setCursor: [() => this.point()] },
		};
	}

	splits(which, scale, min, max) {
		const splits = scale.splits(min, max);
		return which === "y" && this.end <= max ? [...splits, this.end] : splits;
	}

	resize() {
		if (this.box.clientWidth > 0 && this.box.clientWidth !== this.plot.width) {
			this.plot.setSize({ width: this.box.clientWidth, height: HEIGHT });
		}
	}

	// Says the values of all lines at the cursor.
	point() {
		const left = this.plot?.cursor.left ?? -1;
		if (left < 0) {
			return;
		}
		const { chart } = this;
		const x = this.plot.posToVal(left, "x");
		const text = (axis, value) => `${value} ${chart[axis].unit}`.trim();
		const [xs, ys] = [SCALES[chart.x.scale], SCALES[chart.y.scale]];
		const values = this.lines.map((line, n) => {
			const place = at(line, x, chart.stepped);
			const value = place >= this.end ? "1" : ys.said(ys.value(place));
			return `${chart.lines[n].name}: ${place === null ? "–" : text("y", value)}`;
		});
		const byKey = document.activeElement === this.box;
		this.line.setAttribute("aria-live", byKey ? "polite" : "off");
		this.line.textContent = [text("x", xs.said(xs.value(x))), ...values].join(" · ");
	}

	pressed(event) {
		const { plot } = this;
		const width = plot.bbox.width / (devicePixelRatio || 1);
		const left = plot.cursor.left < 0 ? width / 2 : plot.cursor.left;
		const move = to => plot.setCursor({ left: Math.max(0, Math.min(width, to)), top: 0 });
		const { min, max } = plot.scales.x;
		const zoom = factor => {
			const fixed = plot.posToVal(left, "x");
			const [from, to] = this.extent();
			plot.setScale("x", {
				min: Math.max(from, fixed - (fixed - min) * factor),
				max: Math.min(to, fixed + (max - fixed) * factor),
			});
		};
		const keys = {
			ArrowLeft: () => move(left - width / 60), ArrowRight: () => move(left + width / 60),
			Home: () => move(0), End: () => move(width),
			"+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5),
			"0": () => plot.setScale("x", { min: this.extent()[0], max: this.extent()[1] }),
		};
		if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			keys[event.key]();
		}
	}

	// The first and the last place of x.
	extent() {
		const places = this.plot.data[0];
		return [places[0], places[places.length - 1]];
	}

	// A button for each line, which hides it.
	key() {
		const svg = (name, attributes) => {
			const made = document.createElementNS("http://www.w3.org/2000/svg", name);
			Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
			return made;
		};
		const buttons = this.chart.lines.map((line, n) => {
			const sample = svg("svg", { viewBox: "0 0 32 8", "aria-hidden": "true" });
			const dash = dashOf(n).join(" ");
			sample.append(svg("path", { d: "M0 4H32", "stroke-width": 2.5, "stroke-dasharray": dash }));
			const button = alight.element("button", {
				type: "button", "aria-pressed": "true", title: `${line.name}: show or hide`,
				onclick: () => {
					const show = button.getAttribute("aria-pressed") !== "true";
					button.setAttribute("aria-pressed", String(show));
					this.plot.setSeries(n + 1, { show });
				},
			}, sample, line.name);
			return button;
		});
		this.root.querySelector(".key").append(...buttons);
		this.paintKey();
	}

	paintKey() {
		this.root.querySelectorAll(".key path").forEach((path, n) =>
			path.setAttribute("stroke", this.colours[n]));
	}
}

for (const root of document.querySelectorAll(".chart")) {
	root.chart = new Chart(root);
}
