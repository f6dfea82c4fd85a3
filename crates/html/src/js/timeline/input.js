// SPDX-License-Identifier: GPL-2.0-only
// Mouse, touch and keys of one canvas, told to the timeline.

// How far a pointer moves before it drags, CSS pixels.
const STILL = 4;

// What a key does. `run` is the run that has the focus.
function pressed(timeline, event, drawing, run) {
	const { view, data } = timeline;
	const span = view.to - view.from;
	if (view.time === null) {
		timeline.point((view.from + view.to) / 2, view.cpu, true);
	}
	const arrow = sign => event.shiftKey
		? timeline.move(view.time + sign * span / 50, view.cpu) : timeline.pan(sign * span / 8);
	const step = sign => {
		const { marks } = data.runs[run];
		const [begin, end] = [marks.first[view.cpu], marks.first[view.cpu + 1]];
		const behind = alight.above(marks.at, begin, end, view.time);
		let at = sign > 0 ? behind : behind - 1;
		while (at >= begin && at < end && marks.at[at] === view.time) {
			at += sign;
		}
		if (at >= begin && at < end) {
			timeline.move(marks.at[at], view.cpu);
		}
	};
	const why = () => {
		const onCpu = alight.nearestMark(data.runs[run].marks, view.cpu, view.time);
		const mark = onCpu < 0 ? alight.nearestMark(data.runs[run].marks, -1, view.time) : onCpu;
		if (mark >= 0) {
			timeline.open(run, mark, drawing.canvas).focus();
		}
	};
	const keys = {
		"+": () => timeline.act("in"), "=": () => timeline.act("in"), "-": () => timeline.act("out"),
		"0": () => timeline.act("all"),
		"[": () => timeline.act("flatter"), "]": () => timeline.act("taller"),
		Home: () => timeline.act("start"), End: () => timeline.act("end"),
		ArrowLeft: () => arrow(-1), ArrowRight: () => arrow(1),
		ArrowUp: () => timeline.step(-1), ArrowDown: () => timeline.step(1),
		u: () => timeline.act("used"),
		n: () => step(1), p: () => step(-1), Enter: why, Escape: () => timeline.close(),
	};
	if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
		event.preventDefault();
		keys[event.key]();
	}
}

// Drags with one pointer, zooms with two, clicks.
class Pointers {
	constructor(timeline, drawing, run) {
		Object.assign(this, { timeline, drawing, run, dragged: false });
		// Pointers that are down: where they are, and where they came down.
		this.down = new Map();
		const { canvas } = drawing;
		canvas.addEventListener("pointerdown", event => this.press(event));
		canvas.addEventListener("pointermove", event => this.move(event));
		canvas.addEventListener("pointerup", event => this.release(event, true));
		canvas.addEventListener("pointercancel", event => this.release(event, false));
		canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
	}

	place(event) {
		const { left, top } = this.drawing.canvas.getBoundingClientRect();
		return { x: event.clientX - left, y: event.clientY - top };
	}

	get nsPerPixel() {
		const { from, to } = this.timeline.view;
		return (to - from) / (this.drawing.width - this.drawing.gutter);
	}

	press(event) {
		if (event.button === 0) {
			this.drawing.canvas.setPointerCapture(event.pointerId);
			const place = this.place(event);
			this.down.set(event.pointerId, { ...place, from: place });
			this.dragged = this.down.size > 1;
		}
	}

	move(event) {
		const { timeline, drawing, down } = this;
		const { view } = timeline;
		const now = this.place(event), last = down.get(event.pointerId);
		if (!last) {
			const cpu = drawing.cpuAt(now.y, view);
			timeline.point(drawing.timeAt(now.x, view), cpu < 0 ? view.cpu : cpu, false);
			return;
		}
		this.dragged ||= Math.hypot(now.x - last.from.x, now.y - last.from.y) >= STILL;
		if (!this.dragged) {
			return;
		}
		if (down.size === 2) {
			const other = [...down].find(([id]) => id !== event.pointerId)[1];
			const apart = to => Math.max(8, Math.abs(to.x - other.x));
			timeline.zoom(apart(last) / apart(now), drawing.timeAt(other.x, view));
		} else {
			timeline.pan((last.x - now.x) * this.nsPerPixel, false);
			timeline.scroll(view.scroll + last.y - now.y);
		}
		down.set(event.pointerId, { ...now, from: last.from });
	}

	release(event, clicks) {
		const { timeline, drawing, run } = this;
		if (!this.down.delete(event.pointerId) || !clicks || this.dragged) {
			return;
		}
		const { x, y } = this.place(event);
		const cpu = drawing.cpuAt(y, timeline.view), time = drawing.timeAt(x, timeline.view);
		timeline.point(time, cpu < 0 ? timeline.view.cpu : cpu, false);
		const mark = cpu < 0 ? -1 : timeline.markAt(run, time, cpu, this.nsPerPixel);
		if (mark >= 0) {
			timeline.open(run, mark, drawing.canvas);
		}
	}

	// The wheel scrolls the page, unless the timeline was chosen by a click or by Ctrl.
	wheel(event) {
		const { timeline, drawing } = this;
		const size = event.deltaMode === 0 ? 1 : 30;
		if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			event.preventDefault();
			timeline.pan(event.deltaX * size * this.nsPerPixel, false);
		} else if (event.ctrlKey || event.metaKey || document.activeElement === drawing.canvas) {
			event.preventDefault();
			const time = drawing.timeAt(this.place(event).x, timeline.view);
			timeline.zoom(1.002 ** (event.deltaY * size), time);
		}
	}
}

// Listens to a canvas, and to the box in which it scrolls.
function listen(timeline, drawing, box, run) {
	const { view } = timeline;
	new Pointers(timeline, drawing, run);
	drawing.canvas.addEventListener("keydown", event => pressed(timeline, event, drawing, run));
	drawing.canvas.addEventListener("focus", () => {
		if (view.time === null) {
			timeline.point((view.from + view.to) / 2, view.cpu, false);
		}
	});
	box.addEventListener("scroll", () => {
		if (Math.abs(box.scrollTop - view.scroll) >= 1) {
			timeline.scroll(box.scrollTop);
		}
	});
}

