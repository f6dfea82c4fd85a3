// SPDX-License-Identifier: GPL-2.0-only
// Draws heat maps: a cell's lightness is the logarithm of its count, on one scale for all maps.
"use strict";

// The side of a map, and the margin for names, CSS pixels.
const SIDE = 480, MARGIN = 30;

const digits = count => count.toLocaleString("en");

class Heat {
	constructor(root, heat, columns) {
		Object.assign(this, heat);
		this.root = root;
		this.counts = this.maps.map(() => columns.next(this.names.length ** 2));
		this.most = this.counts.reduce((most, counts) =>
			counts.reduce((most, count) => Math.max(most, count), most), 1);
		this.cell = null;
		root.querySelector(".scripted").hidden = false;
		this.canvases = [...root.querySelectorAll("canvas")];
		this.canvases.forEach(canvas => {
			canvas.addEventListener("pointermove", event => this.point(canvas, event));
			canvas.addEventListener("keydown", event => this.pressed(event));
		});
		new ResizeObserver(() => this.draw()).observe(root);
		alight.onTheme(() => this.draw());
		this.draw();
	}

	// The colour of a part of the scale, 0 to 1; its lightness alone tells how much.
	shade(part) {
		return this.dark ? alight.oklch(0.3 + 0.6 * part, 0.04 + 0.1 * part, 75)
			: alight.oklch(0.93 - 0.63 * part, 0.04 + 0.1 * part, 255);
	}

	part(count) {
		return Math.log(count) / Math.log(Math.max(2, this.most));
	}

	draw() {
		this.dark = alight.isDark();
		this.colours = Array.from({ length: 256 }, (_, at) => this.shade(at / 255));
		this.images = [];
		this.paint();
		const shades = [0, 0.25, 0.5, 0.75, 1].map(part => alight.css(this.shade(part)));
		const bar = alight.element("span", { class: "bar" });
		bar.style.background = `linear-gradient(to right, ${shades.join(", ")})`;
		this.root.querySelector(".scale").replaceChildren(
			"1", bar, `${digits(this.most)} ${this.counted} (logarithmic; none: blank)`);
	}

	paint() {
		this.canvases.forEach((canvas, at) => this.map(canvas, at));
	}

	// A map; its cells are made once for each size and theme.
	map(canvas, at) {
		const n = this.names.length;
		const room = Math.min(SIDE, canvas.parentElement.clientWidth) - MARGIN;
		const cell = room / n;
		const scale = Math.min(3, devicePixelRatio || 1);
		const side = Math.round((room + MARGIN) * scale);
		canvas.width = canvas.height = side;
		canvas.style.width = canvas.style.height = `${room + MARGIN}px`;
		Object.assign(this, { size: cell, scale });
		const context = canvas.getContext("2d", { alpha: false });
		const [paper, soft, ink] = ["paper", "soft", "ink"]
			.map(name => alight.css(alight.colour(name)));
		context.fillStyle = paper;
		context.fillRect(0, 0, side, side);
		this.images[at] ??= this.image(this.counts[at], Math.round(room * scale));
		context.putImageData(this.images[at], MARGIN * scale, MARGIN * scale);
		context.setTransform(scale, 0, 0, scale, 0, 0);
		this.borders(context, this.thin, alight.css(alight.colour("soft"), 0.5), 0.75, room);
		this.borders(context, this.strong, ink, 1.5, room);
		context.strokeStyle = soft;
		context.lineWidth = 1;
		context.strokeRect(MARGIN, MARGIN, room - 0.5, room - 0.5);
		this.labels(context, soft);
		if (this.cell) {
			const [row, column] = this.cell;
			context.strokeStyle = ink;
			context.lineWidth = 2;
			context.strokeRect(MARGIN + column * cell - 1, MARGIN + row * cell - 1, cell + 2, cell + 2);
		}
	}

	// Cells, pixel by pixel; a cell below a pixel shows the highest count that falls there.
	image(counts, side) {
		const image = new ImageData(side, side);
		const n = this.names.length;
		const paper = alight.colour("paper");
		const most = new Float64Array(side * side);
		const edge = at => Math.floor(at * side / n);
		for (let cell = 0; cell < counts.length; cell++) {
			const row = Math.floor(cell / n), column = cell % n;
			for (let y = edge(row); y < Math.max(edge(row) + 1, edge(row + 1)); y++) {
				for (let x = edge(column); x < Math.max(edge(column) + 1, edge(column + 1)); x++) {
					most[y * side + x] = Math.max(most[y * side + x], counts[cell]);
				}
			}
		}
		image.data.fill(255);
		most.forEach((count, at) => {
			image.data.set(count > 0 ? this.colours[Math.round(255 * this.part(count))] : paper, at * 4);
		});
		return image;
	}

	borders(context, places, colour, width, room) {
		context.strokeStyle = colour;
		context.lineWidth = width;
		context.beginPath();
		for (const place of places) {
			const at = MARGIN + place * this.size;
			context.moveTo(at, MARGIN);
			context.lineTo(at, MARGIN + room);
			context.moveTo(MARGIN, at);
			context.lineTo(MARGIN + room, at);
		}
		context.stroke();
	}

	// Numbers of rows and columns, as many as there is room for; what they are.
	labels(context, colour) {
		context.fillStyle = colour;
		context.font = "10px system-ui, sans-serif";
		context.textBaseline = "middle";
		const n = this.names.length;
		const every = [1, 2, 4, 8, 16, 32, 64, 128].find(every => every * this.size >= 20) ?? n;
		for (let at = 0; at < n; at += every) {
			const middle = MARGIN + (at + 0.5) * this.size;
			context.textAlign = "right";
			context.fillText(String(at), MARGIN - 3, middle);
			context.textAlign = "center";
			context.fillText(String(at), middle, MARGIN - 7);
		}
	}

	select(row, column, byKey) {
		const n = this.names.length;
		const within = at => Math.min(n - 1, Math.max(0, at));
		this.cell = [within(row), within(column)];
		const [from, to] = this.cell;
		const counts = this.maps.map((name, map) =>
			`${name}: ${digits(this.counts[map][from * n + to])}`);
		const line = this.root.querySelector(".at");
		line.setAttribute("aria-live", byKey ? "polite" : "off");
		line.textContent = [`${this.from} ${this.names[from]}, ${this.to} ${this.names[to]}`, ...counts]
			.join(" · ") + ` ${this.counted}`;
		this.paint();
	}

	point(canvas, event) {
		const { left, top } = canvas.getBoundingClientRect();
		const row = Math.floor((event.clientY - top - MARGIN) / this.size);
		const column = Math.floor((event.clientX - left - MARGIN) / this.size);
		const inside = Math.min(row, column) >= 0 && Math.max(row, column) < this.names.length;
		if (inside && `${[row, column]}` !== `${this.cell}`) {
			this.select(row, column, false);
		}
	}

	pressed(event) {
		const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
		const step = steps[event.key];
		if (step && !event.ctrlKey && !event.metaKey && !event.altKey) {
			event.preventDefault();
			const [row, column] = this.cell ?? [-step[0], -step[1]];
			this.select(row + step[0], column + step[1], true);
		}
	}
}

async function begin(root) {
	try {
		const { borders, ...heat } = JSON.parse(root.querySelector("script.head").textContent);
		root.heat = new Heat(root, { ...heat, thin: borders }, await alight.columns(root));
	} catch (error) {
		alight.failed(root, error);
		throw error;
	}
}

document.querySelectorAll(".heat").forEach(begin);
