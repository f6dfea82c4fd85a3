// SPDX-License-Identifier: GPL-2.0-only
// Draws lanes pixel by pixel. Where several periods fall into one column of pixels, the column has
// the colour of the one that fills most of it, and is as strong as all of them fill it together.

// Colours as one number, in the order of bytes that ImageData has on little-endian machines.
const packedColour = ([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0;

// A colour on paper. Each column of pixels asks: so nothing is allocated.
function mixed(colour, paper, alpha) {
	const red = colour[0] * alpha + paper[0] * (1 - alpha) + 0.5 | 0;
	const green = colour[1] * alpha + paper[1] * (1 - alpha) + 0.5 | 0;
	const blue = colour[2] * alpha + paper[2] * (1 - alpha) + 0.5 | 0;
	return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}

// However short a period is, its column of pixels shows so much of its colour.
const LEAST = 0.3;

alight.palette = data => {
	const dark = alight.isDark();
	const paper = alight.colour("paper"), ink = alight.colour("ink");
	const idle = data.idle.map((_, state) => {
		const deep = (state + 1) / data.idle.length;
		return alight.oklch(dark ? 0.75 - 0.4 * deep : 0.9 - 0.45 * deep, 0.05, 250);
	});
	return {
		paper, ink, idle,
		soft: alight.colour("soft"), line: alight.colour("line"),
		clock: alight.oklch(dark ? 0.5 : 0.8, 0.06, 80),
		tasks: alight.coloursOf(data.tasks),
	};
};

// The parts of a lane, from above to below, in pixels of the screen.
function partsOf(height, scale) {
	const from = (least, part) =>
		height / scale >= least ? Math.max(scale, Math.round(height * part)) : 0;
	const parts = {
		marks: from(16, 0.14), idle: from(11, 0.14), clock: from(22, 0.2),
		gap: height / scale >= 5 ? Math.round(scale * (height / scale >= 9 ? 2 : 1)) : 0,
	};
	parts.slices = height - parts.marks - parts.idle - parts.clock - parts.gap;
	return parts;
}

// Draws the lanes of one run.
class Raster {
	constructor(data, run) {
		this.run = run;
		this.weights = new Float64Array(Math.max(data.tasks.length, data.idle.length) + 1);
		this.touched = new Uint32Array(this.weights.length);
		this.mostKhz = Math.max(1, ...data.runs.map(run =>
			run.clocks.khz.reduce((most, khz) => Math.max(most, khz), 0)));
	}

	// The image of lanes of this height, for this view: { from, to, shown, scroll }, ns and pixels.
	image(width, height, laneHeight, scale, view, palette) {
		if (this.pixels?.width !== width || this.pixels?.height !== height) {
			this.pixels = new ImageData(width, height);
			this.buffer = new Uint32Array(this.pixels.data.buffer);
			this.row = new Uint32Array(width);
			this.levels = new Float64Array(width);
		}
		this.view = view;
		this.perNs = width / (view.to - view.from);
		this.palette = palette;
		this.paper = packedColour(palette.paper);
		this.full = palette.tasks.map(packedColour);
		this.fullIdle = palette.idle.map(packedColour);
		this.buffer.fill(this.paper);
		const parts = partsOf(laneHeight, scale);
		for (let lane = Math.floor(view.scroll / laneHeight); lane < view.shown.length; lane++) {
			const top = lane * laneHeight - view.scroll;
			if (top >= height) {
				break;
			}
			this.lane(view.shown[lane], Math.round(top), parts, Math.round(scale));
		}
		this.shadeBehindEnd(width, height);
		return this.pixels;
	}

	lane(cpu, top, parts, scale) {
		const { slices, idles } = this.run;
		if (parts.marks) {
			this.marks(cpu, scale);
			this.fill(top, parts.marks - scale);
		}
		top += parts.marks;
		this.periods(slices, cpu, slices.task, this.palette.tasks, this.full);
		this.fill(top, parts.slices);
		top += parts.slices;
		if (parts.idle) {
			this.periods(idles, cpu, idles.state, this.palette.idle, this.fullIdle);
			this.fill(top, parts.idle);
		}
		if (parts.clock) {
			this.clock(cpu, top + parts.idle, parts.clock);
		}
	}

	// Copies the row to so many rows of the image.
	fill(top, count) {
		const width = this.row.length, height = this.pixels.height;
		for (let y = Math.max(0, top); y < Math.min(height, top + count); y++) {
			this.buffer.set(this.row, y * width);
		}
	}

	// A row of periods of a CPU, each in the colour of its kind.
	periods(periods, cpu, kinds, colours, full) {
		const { row, perNs, weights, touched } = this;
		const { from, to } = this.view;
		const { start, end } = periods;
		const width = row.length, last = periods.first[cpu + 1];
		let pixel = -1, count = 0, best = 0;
		const flush = () => {
			let sum = 0;
			for (let n = 0; n < count; n++) {
				sum += weights[touched[n]];
				weights[touched[n]] = 0;
			}
			const alpha = Math.max(LEAST, Math.min(1, sum));
			row[pixel] = alpha > 0.98 ? full[best] : mixed(colours[best], this.palette.paper, alpha);
			count = 0;
		};
		const add = (x, kind, weight) => {
			if (x !== pixel) {
				if (count > 0) {
					flush();
				}
				pixel = x;
				best = kind;
			}
			if (weights[kind] === 0) {
				touched[count++] = kind;
			}
			// A period without length counts, too.
			weights[kind] += weight + 1e-12;
			if (weights[kind] > weights[best]) {
				best = kind;
			}
		};
		row.fill(this.paper);
		for (let at = alight.above(end, periods.first[cpu], last, from); at < last; at++) {
			if (start[at] >= to) {
				break;
			}
			const kind = kinds[at] < colours.length ? kinds[at] : 0;
			const left = Math.max(0, (start[at] - from) * perNs);
			const right = Math.min(width, (end[at] - from) * perNs);
			const x = Math.floor(left), lastX = Math.floor(right);
			if (x === lastX) {
				if (x < width) {
					add(x, kind, right - left);
				}
				continue;
			}
			add(x, kind, x + 1 - left);
			row.fill(full[kind], x + 1, lastX);
			if (lastX < width) {
				add(lastX, kind, right - lastX);
			}
		}
		if (count > 0) {
			flush();
		}
	}

	// A row of ticks. Where they are dense, a column is the stronger, the more of them fall into it.
	marks(cpu, wide) {
		const { row, perNs, levels } = this;
		const { from, to } = this.view;
		const { at, first } = this.run.marks;
		levels.fill(0);
		const last = first[cpu + 1];
		let most = 1;
		for (let n = alight.above(at, first[cpu], last, from); n < last && at[n] < to; n++) {
			most = Math.max(most, ++levels[Math.floor((at[n] - from) * perNs)]);
		}
		row.fill(this.paper);
		const shade = alpha => mixed(this.palette.ink, this.palette.paper, alpha);
		const alone = shade(0.9);
		const dense = Array.from({ length: 8 }, (_, part) => shade(0.15 + 0.06 * part));
		const isAlone = x => !(levels[x - 2] || levels[x - 1] || levels[x + 1] || levels[x + 2]);
		for (let x = 0; x < row.length; x++) {
			if (levels[x] > 0) {
				const colour = isAlone(x) ? alone : dense[Math.floor(7 * levels[x] / most)];
				row.fill(colour, x, x + wide);
			}
		}
	}

	// Bars as high as the clock: the whole height is the highest clock of all runs.
	clock(cpu, top, height) {
		const { row, perNs, levels, buffer } = this;
		const { from, to } = this.view;
		const { at, khz, first } = this.run.clocks;
		const last = first[cpu + 1], width = row.length;
		let next = alight.above(at, first[cpu], last, from);
		let x = 0, level = next > first[cpu] ? khz[next - 1] : 0;
		for (; next < last && at[next] < to; next++) {
			const here = Math.floor((at[next] - from) * perNs);
			levels.fill(level, x, here);
			x = here;
			level = khz[next];
		}
		levels.fill(level, x, width);
		const colour = packedColour(this.palette.clock);
		for (let y = Math.max(0, top); y < Math.min(this.pixels.height, top + height); y++) {
			const least = (top + height - y - 0.5) / height * this.mostKhz;
			for (let x = 0; x < width; x++) {
				if (levels[x] >= least) {
					buffer[y * width + x] = colour;
				}
			}
		}
	}

	// Behind its end a run has nothing to show: the paper is grey there.
	shadeBehindEnd(width, height) {
		const x = Math.ceil((this.run.end - this.view.from) * this.perNs);
		const grey = mixed(this.palette.line, this.palette.paper, 0.6);
		for (let y = 0; x < width && y < height; y++) {
			this.buffer.fill(grey, y * width + Math.max(0, x), (y + 1) * width);
		}
	}
}
