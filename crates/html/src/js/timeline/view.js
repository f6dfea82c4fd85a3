// SPDX-License-Identifier: GPL-2.0-only
// What the user sees of a timeline and does with it. One view serves all its runs: so zoom, pan and
// cursor are locked together.

// The shortest time that a view shows, ns.
const SHORTEST = 100;
// How tall lanes are, and how tall all of them together at first, CSS pixels.
const LOWEST = 3, HIGHEST = 120, FIRST = 40, ROOM = 560;
// How near a click must be to a wakeup, CSS pixels.
const NEAR = 6;
// Tasks of the legend.
const LISTED = 12;
// Of more CPUs than these, at first only those have a lane that are used.
const MANY_CPUS = 64;

class Timeline {
	constructor(root, data) {
		this.root = root;
		this.data = data;
		this.lines = root.querySelector(".at");
		this.panel = root.querySelector(".panel");
		this.boxes = [...root.querySelectorAll(".lanes")];
		this.drawings = [...root.querySelectorAll("canvas")].map((canvas, at) =>
			new Drawing(data, at, canvas));
		this.view = {
			from: data.start, to: data.end, time: null, only: -1, marks: null,
			// CPUs that have a lane, from above to below; the cursor's; how tall lanes are.
			shown: [], cpu: 0, lane: 0, scroll: 0,
		};
		this.used = alight.usedCpus(data);
		this.showCpus(this.used.length > 0 && data.cpus.length > MANY_CPUS);
		root.querySelector(".scripted").hidden = false;
		this.legend();
		this.theme();
		alight.onTheme(() => this.theme());
		new ResizeObserver(() => this.resize()).observe(root);
		for (const button of root.querySelectorAll("[data-action]")) {
			button.addEventListener("click", () => this.act(button.dataset.action));
		}
		this.drawings.forEach((drawing, at) => listen(this, drawing, this.boxes[at], at));
	}

	// Buttons, and keys that do the same.
	act(action) {
		const { view } = this;
		const span = view.to - view.from;
		const actions = {
			in: () => this.zoom(1 / 1.5), out: () => this.zoom(1.5),
			earlier: () => this.pan(-span / 8), later: () => this.pan(span / 8),
			all: () => this.show(this.data.start, this.data.end),
			start: () => this.pan(this.data.start - view.from),
			end: () => this.pan(this.data.end - view.to),
			used: () => this.showCpus(view.shown.length === this.data.cpus.length),
			taller: () => this.tall(1.5), flatter: () => this.tall(1 / 1.5),
		};
		actions[action]();
	}

	// Shows CPUs that any run uses, or all.
	showCpus(used) {
		const { view, data } = this;
		view.shown = used ? this.used : [...data.cpus.keys()];
		const fits = Math.floor(ROOM / view.shown.length);
		view.lane = Math.min(FIRST, Math.max(LOWEST, fits));
		view.cpu = view.shown.find(cpu => cpu >= view.cpu) ?? view.shown[0] ?? 0;
		view.scroll = 0;
		const button = this.root.querySelector("[data-action=used]");
		button.hidden = this.used.length % data.cpus.length === 0;
		button.setAttribute("aria-pressed", String(used));
		this.resize();
	}

	// The place of the cursor's lane.
	get place() {
		return Math.max(0, this.view.shown.indexOf(this.view.cpu));
	}

	theme() {
		this.palette = alight.palette(this.data);
		this.full = this.palette.tasks;
		this.highlight();
		for (const swatch of this.root.querySelectorAll(".legend [data-colour]")) {
			const [kind, at] = swatch.dataset.colour.split(" ");
			const colour = kind === "clock" ? this.palette.clock : kind === "idle"
				? this.palette.idle[at] : this.full[at];
			swatch.style.background = alight.css(colour);
		}
		this.resize();
		this.draw(true);
	}

	// Lanes are as wide as there is room.
	resize() {
		const { view } = this;
		const whole = view.shown.length * view.lane;
		const height = AXIS + Math.min(whole, Math.max(ROOM, view.lane));
		this.drawings.forEach((drawing, at) => {
			const box = this.boxes[at];
			box.style.height = `${height}px`;
			box.firstElementChild.style.height = `${AXIS + whole}px`;
			drawing.resize(box.clientWidth, height);
			box.scrollTop = view.scroll;
		});
		this.height = height;
		// A canvas that has changed its size is blank: it is drawn before the page is.
		if (this.palette) {
			this.draw(true);
		}
	}

	// Draws in the next frame.
	changed(lanes) {
		this.lanes ||= lanes;
		this.frame ??= requestAnimationFrame(() => this.draw(this.lanes));
	}

	draw(lanes) {
		cancelAnimationFrame(this.frame);
		this.frame = undefined;
		this.lanes = false;
		for (const drawing of this.drawings) {
			if (drawing.width > 0) {
				drawing.draw(this.view, this.palette, lanes);
			}
		}
	}

	show(from, to) {
		const { view, data } = this;
		const all = data.end - data.start;
		const span = Math.min(all, Math.max(Math.min(SHORTEST, all), to - from));
		view.from = Math.min(Math.max(data.start, from), data.end - span);
		view.to = view.from + span;
		this.changed(true);
	}

	// Zooms so that this time stays where it is: the cursor's, if it is in view.
	zoom(factor, time = this.view.time) {
		const { view } = this;
		const inView = time !== null && time >= view.from && time <= view.to;
		const fixed = inView ? time : (view.from + view.to) / 2;
		const left = (fixed - view.from) * factor;
		const all = this.data.end - this.data.start;
		const span = Math.min(all, Math.max(SHORTEST, (view.to - view.from) * factor));
		const part = left / ((view.to - view.from) * factor);
		this.show(fixed - part * span, fixed + (1 - part) * span);
	}

	// Moves the view, and the cursor with it.
	pan(by, withCursor = true) {
		const { view } = this;
		const from = view.from;
		this.show(view.from + by, view.to + by);
		if (withCursor && view.time !== null) {
			this.point(view.time + view.from - from, view.cpu, true);
		}
	}

	tall(factor) {
		const { view } = this;
		const middle = (this.place + 0.5) * view.lane - view.scroll;
		const lane = view.lane * factor;
		view.lane = Math.min(HIGHEST, Math.max(LOWEST, factor < 1 ? Math.floor(lane) : Math.ceil(lane)));
		this.resize();
		this.scroll((this.place + 0.5) * view.lane - middle);
	}

	scroll(to) {
		const { view } = this;
		const most = view.shown.length * view.lane - (this.height - AXIS);
		view.scroll = Math.max(0, Math.min(to, most));
		for (const box of this.boxes) {
			box.scrollTop = view.scroll;
		}
		this.changed(true);
	}

	// Sets the cursor. What a key did is announced; what a mouse did is only shown.
	point(time, cpu, byKey) {
		const { view, data } = this;
		view.time = Math.min(data.end, Math.max(data.start, time));
		view.cpu = cpu;
		this.lines.setAttribute("aria-live", byKey ? "polite" : "off");
		this.lines.textContent = this.sentence();
		this.changed(false);
	}

	// Moves the cursor, and the view where the cursor would leave it.
	move(time, cpu) {
		this.point(time, cpu, true);
		const { view } = this;
		const span = view.to - view.from;
		if (view.time < view.from || view.time > view.to) {
			this.show(view.time - span / 2, view.time + span / 2);
		}
		const top = this.place * view.lane, room = this.height - AXIS;
		if (top < view.scroll || top + view.lane > view.scroll + room) {
			this.scroll(top < view.scroll ? top : top + view.lane - room);
		}
	}

	// Moves the cursor to the lane above or below.
	step(sign) {
		const { view } = this;
		this.move(view.time, view.shown[this.place + sign] ?? view.cpu);
	}

	// Where the cursor is, and what runs there in each run.
	sentence() {
		const { view, data } = this;
		const step = (view.to - view.from) / 1000;
		const what = run => {
			if (view.time > run.end) {
				return "has ended";
			}
			const slice = alight.periodAt(run.slices, view.cpu, view.time);
			const idle = alight.periodAt(run.idles, view.cpu, view.time);
			const khz = alight.clockAt(run.clocks, view.cpu, view.time);
			const clock = khz ? `, ${khz / 1000} MHz` : "";
			return (slice >= 0 ? data.tasks[run.slices.task[slice]] ?? "?"
				: idle >= 0 ? `idle, ${data.idle[run.idles.state[idle]] ?? "?"}` : "nothing") + clock;
		};
		const runs = data.runs.map(run => `${run.name}: ${what(run)}`);
		return [`${alight.time(view.time, step)}, ${data.cpus[view.cpu]}`, ...runs].join(" · ");
	}

	// The wakeup that a click means: the nearest on this CPU, else the one that started the slice.
	markAt(at, time, cpu, nsPerPixel) {
		const { marks, slices } = this.data.runs[at];
		const nearest = alight.nearestMark(marks, cpu, time);
		if (nearest >= 0 && Math.abs(marks.at[nearest] - time) <= NEAR * nsPerPixel) {
			return nearest;
		}
		const slice = alight.periodAt(slices, cpu, time);
		if (slice < 0) {
			return -1;
		}
		const start = slices.start[slice];
		const cause = mark => marks.at[mark] <= start && marks.task[mark] === slices.task[slice];
		return alight.nearestMark(marks, -1, start, cause);
	}

	// Opens the explanation of a wakeup.
	open(run, mark, canvas) {
		const close = () => {
			this.close();
			canvas.focus({ preventScroll: true });
		};
		const { heading, marks } = alight.explain(this.panel, this.data, { run, mark }, close);
		this.panel.onkeydown = event => event.key === "Escape" && close();
		this.view.marks = marks;
		this.changed(false);
		return heading;
	}

	close() {
		this.panel.hidden = true;
		this.view.marks = null;
		this.changed(false);
	}

	// One task in colour and the others grey, or all in colour.
	highlight(only = this.view.only) {
		const { view, palette } = this;
		view.only = only;
		const grey = palette.paper.map((paper, at) => Math.round(0.8 * paper + 0.2 * palette.ink[at]));
		palette.tasks = this.full.map((colour, task) => only < 0 || only === task ? colour : grey);
		for (const button of this.root.querySelectorAll(".legend button")) {
			button.setAttribute("aria-pressed", String(only >= 0 && button.dataset.task === String(only)));
		}
		this.changed(true);
	}

	// The tasks that run longest, the idle states, the clock.
	legend() {
		const { data } = this;
		const times = new Float64Array(data.tasks.length);
		for (const { slices } of data.runs) {
			slices.task.forEach((task, at) => times[task] += slices.end[at] - slices.start[at]);
		}
		const order = [...times.keys()].filter(task => times[task] > 0)
			.sort((a, b) => times[b] - times[a]);
		const { element } = alight;
		const swatch = (kind, at) => element("span", { class: "swatch", "data-colour": `${kind} ${at}` });
		const entry = (kind, at, name) => element("span", {}, swatch(kind, at), name);
		const tasks = order.slice(0, LISTED).map(task => element("button", {
			type: "button", "aria-pressed": "false", "data-task": task,
			title: `${data.tasks[task]}: only this task in colour`,
			onclick: () => this.highlight(this.view.only === task ? -1 : task),
		}, swatch("task", task), data.tasks[task]));
		const more = order.length - tasks.length;
		const most = Math.max(...this.drawings.map(drawing => drawing.raster.mostKhz));
		this.root.querySelector(".legend").append(...tasks,
			...more > 0 ? [element("span", {}, `and ${more} others`)] : [],
			...data.idle.map((name, at) => entry("idle", at, `idle: ${name}`)),
			...most > 1 ? [entry("clock", 0, `clock, up to ${most / 1000} MHz`)] : []);
	}
}

async function begin(root) {
	try {
		root.timeline = new Timeline(root, await alight.timelineData(root));
		root.timeline.draw(true);
		performance.mark("alight timeline painted");
	} catch (error) {
		alight.failed(root, error);
		throw error;
	}
}

document.querySelectorAll(".timeline").forEach(begin);
