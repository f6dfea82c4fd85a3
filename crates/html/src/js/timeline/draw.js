// SPDX-License-Identifier: GPL-2.0-only
// Draws one run on its canvas: lanes, names, time axis, cursor, chosen wakeups.

// Sizes in CSS pixels.
const AXIS = 20;
const FONT = "11px system-ui, sans-serif";
// The gutter is a quarter of the width at most, and no wider and no narrower than this.
const WIDEST = 140, NARROWEST = 56;
const LETTER = 6.2;
// Slices at least so wide have their task's name.
const NAMED = 28;

const cut = (text, width) => {
	const letters = Math.floor(width / LETTER);
	return text.length <= letters ? text : letters < 2 ? "" : text.slice(0, letters - 1) + "…";
};

// The step between two labels of an axis: 1, 2 or 5 times a power of 10, at least `least`.
function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(least));
	return power * [1, 2, 5, 10].find(factor => factor * power >= least * (1 - 1e-9));
}

// Dark letters on light colours, light ones on dark.
const isLight = ([red, green, blue]) => red * 0.299 + green * 0.587 + blue * 0.114 > 140;

class Drawing {
	constructor(data, at, canvas) {
		this.data = data;
		this.at = at;
		this.run = data.runs[at];
		this.canvas = canvas;
		this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
		this.raster = new Raster(data, this.run);
		this.context.font = FONT;
		this.widths = data.cpus.map(name => this.context.measureText(name).width);
		this.longest = this.widths.reduce((most, width) => Math.max(most, width), 10);
	}

	// The width left of the lanes: names of CPUs.
	get gutter() {
		const most = Math.min(WIDEST, Math.max(NARROWEST, this.width / 4));
		return Math.ceil(Math.min(most, this.longest + 8));
	}

	// The name of a CPU as it stands in the gutter.
	label(cpu) {
		const name = this.data.cpus[cpu], room = this.gutter - 4;
		return this.widths[cpu] <= room ? name : cut(name, room);
	}

	resize(width, height) {
		const scale = Math.min(3, devicePixelRatio || 1);
		const sizes = [Math.round(width * scale), Math.round(height * scale)];
		if (this.canvas.width !== sizes[0] || this.canvas.height !== sizes[1]) {
			[this.canvas.width, this.canvas.height] = sizes;
			this.image = null;
		}
		Object.assign(this, { width, height, scale });
		this.canvas.style.height = `${height}px`;
	}

	timeAt(x, view) {
		const part = (x - this.gutter) / (this.width - this.gutter);
		return view.from + part * (view.to - view.from);
	}

	xOf(time, view) {
		return this.gutter + (time - view.from) / (view.to - view.from) * (this.width - this.gutter);
	}

	cpuAt(y, view) {
		const lane = Math.floor((y - AXIS + view.scroll) / view.lane);
		return y < AXIS ? -1 : view.shown[lane] ?? -1;
	}

	// Draws everything. `lanes`: whether lanes are drawn anew, or only what is above them.
	draw(view, palette, lanes) {
		const { context, scale, width, height } = this;
		const left = Math.round(this.gutter * scale), top = Math.round(AXIS * scale);
		if (lanes || !this.image) {
			const lane = Math.max(1, Math.round(view.lane * scale));
			const scroll = view.scroll / view.lane * lane;
			this.image = this.raster.image(Math.max(1, this.canvas.width - left),
				Math.max(1, this.canvas.height - top), lane, scale, { ...view, scroll }, palette);
		}
		context.setTransform(scale, 0, 0, scale, 0, 0);
		context.fillStyle = alight.css(palette.paper);
		context.fillRect(0, 0, width, height);
		context.putImageData(this.image, left, top);
		context.font = FONT;
		context.textBaseline = "middle";
		this.names(view, palette);
		this.slices(view, palette);
		this.axis(view, palette);
		this.above(view, palette);
	}

	// Lanes that can be seen: CPU, where it begins, place.
	*visible(view) {
		for (let lane = Math.floor(view.scroll / view.lane); lane < view.shown.length; lane++) {
			const y = AXIS + lane * view.lane - view.scroll;
			if (y >= this.height) {
				return;
			}
			yield [view.shown[lane], y, lane];
		}
	}

	names(view, palette) {
		const { context } = this;
		const every = Math.ceil(12 / view.lane);
		context.textAlign = "left";
		for (const [cpu, y, lane] of this.visible(view)) {
			if (cpu === view.cpu && view.time !== null) {
				context.fillStyle = alight.css(palette.ink, 0.15);
				context.fillRect(0, y, this.gutter, Math.max(2, view.lane - 1));
			}
			if (lane % every === 0) {
				context.fillStyle = alight.css(palette.soft);
				context.fillText(this.label(cpu), 2, y + Math.max(5, view.lane / 2));
			}
		}
	}

	// Names of tasks on slices that are wide enough.
	slices(view, palette) {
		const { start, end, task, first } = this.run.slices;
		const parts = partsOf(view.lane, 1);
		if (parts.slices < 10) {
			return;
		}
		const { context } = this;
		const least = NAMED * (view.to - view.from) / (this.width - this.gutter);
		context.textAlign = "left";
		for (const [cpu, y] of this.visible(view)) {
			const from = alight.above(end, first[cpu], first[cpu + 1], view.from);
			for (let at = from; at < first[cpu + 1] && start[at] < view.to; at++) {
				const kind = task[at];
				if (end[at] - start[at] < least || view.only >= 0 && view.only !== kind) {
					continue;
				}
				const left = Math.max(this.gutter, this.xOf(start[at], view));
				const right = Math.min(this.width, this.xOf(end[at], view));
				if (right - left >= NAMED) {
					const light = isLight(palette.tasks[kind] ?? palette.paper);
					context.fillStyle = light ? "#000" : "#fff";
					const name = cut(this.data.tasks[kind] ?? "?", right - left - 6);
					context.fillText(name, left + 3, y + parts.marks + parts.slices / 2 + 0.5);
				}
			}
		}
	}

	axis(view, palette) {
		const { context } = this;
		const wide = this.width - this.gutter;
		const step = niceStep(Math.max(1, (view.to - view.from) * 74 / wide));
		context.fillStyle = alight.css(palette.paper);
		context.fillRect(0, 0, this.width, AXIS);
		context.textAlign = "center";
		for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) {
			const x = this.xOf(n * step, view);
			context.fillStyle = alight.css(palette.line);
			context.fillRect(Math.round(x), AXIS - 4, 1, 4);
			context.fillStyle = alight.css(palette.soft);
			const text = n === 0 ? "0" : alight.time(n * step, step, view.to);
			const half = context.measureText(text).width / 2;
			if (x + half <= this.width && x - half >= 0) {
				context.fillText(text, x, AXIS / 2 - 2);
			}
		}
	}

	// The cursor, and the wakeups whose explanation is open.
	above(view, palette) {
		const { context } = this;
		if (view.time !== null) {
			const x = this.xOf(view.time, view);
			context.fillStyle = alight.css(palette.ink);
			if (x >= this.gutter && x <= this.width) {
				context.fillRect(Math.round(x), AXIS - 6, 1, this.height);
			}
		}
		const mark = view.marks?.[this.at] ?? -1;
		if (mark < 0) {
			return;
		}
		const lane = view.shown.indexOf(alight.cpuOfMark(this.run.marks, mark));
		const x = this.xOf(this.run.marks.at[mark], view);
		const y = AXIS + lane * view.lane - view.scroll;
		if (x >= this.gutter && y >= AXIS - 1) {
			context.fillStyle = alight.css(palette.ink);
			context.strokeStyle = alight.css(palette.paper);
			context.lineWidth = 1.5;
			context.beginPath();
			context.moveTo(x - 6, y - 4);
			context.lineTo(x + 6, y - 4);
			context.lineTo(x, y + 6);
			context.closePath();
			context.stroke();
			context.fill();
			context.fillRect(x - 0.5, y, 1, view.lane - 1);
		}
	}
}

