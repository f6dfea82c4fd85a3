// SPDX-License-Identifier: GPL-2.0-only
// Unpacks a timeline. How it is packed: timeline/pack.rs.
"use strict";

alight.NONE = 0xffffffff;

// Where the entries of each CPU begin; one more says where the last ends.
function places(columns, cpus) {
	const first = new Uint32Array(cpus + 1);
	columns.next(cpus).forEach((count, cpu) => first[cpu + 1] = first[cpu] + count);
	return first;
}

const unfolded = number => number % 2 ? -(number + 1) / 2 : number / 2;

// Calls back for each entry of each CPU.
function each(first, cpus, begin, entry) {
	for (let cpu = 0; cpu < cpus; cpu++) {
		begin(cpu);
		for (let at = first[cpu]; at < first[cpu + 1]; at++) {
			entry(at, cpu);
		}
	}
}

function unpackSlices(columns, cpus) {
	const first = places(columns, cpus);
	const count = first[cpus];
	const start = columns.next(count), end = columns.next(count);
	const task = Uint32Array.from(columns.next(count));
	let last;
	each(first, cpus, () => last = 0, at => {
		start[at] = last + unfolded(start[at]);
		last = end[at] = start[at] + unfolded(end[at]);
	});
	return { first, start, end, task };
}

function unpackIdle(columns, cpus, slices, runEnd) {
	const first = places(columns, cpus);
	const count = first[cpus];
	const skipped = columns.next(count), start = columns.next(count), end = columns.next(count);
	const state = Uint32Array.from(columns.next(count));
	let next;
	each(first, cpus, cpu => next = slices.first[cpu], (at, cpu) => {
		next += unfolded(skipped[at]);
		start[at] = unfolded(start[at]) + (next > slices.first[cpu] ? slices.end[next - 1] : 0);
		end[at] = (next < slices.first[cpu + 1] ? slices.start[next] : runEnd) - unfolded(end[at]);
	});
	return { first, start, end, state };
}

function unpackClocks(columns, cpus) {
	const first = places(columns, cpus);
	const at = columns.next(first[cpus]);
	const khz = Uint32Array.from(columns.next(first[cpus]));
	let last;
	each(first, cpus, () => last = 0, n => last = at[n] = last + unfolded(at[n]));
	return { first, at, khz };
}

function unpackMarks(columns, cpus, slices, values) {
	const first = places(columns, cpus);
	const count = first[cpus];
	const link = columns.next(count), at = columns.next(count);
	const alone = columns.next(link.reduce((alone, code) => alone + (code === 0), 0));
	const task = new Uint32Array(count);
	let expected, last, alones = 0;
	each(first, cpus, cpu => { expected = slices.first[cpu]; last = 0; }, n => {
		if (link[n] > 0) {
			const slice = expected + unfolded(link[n] - 1);
			at[n] = slices.start[slice] - at[n];
			task[n] = slices.task[slice];
			expected = slice + 1;
		} else {
			at[n] = last + unfolded(at[n]);
			task[n] = alone[alones++];
		}
		last = at[n];
	});
	// 0, which is none, becomes NONE.
	const less = column => Uint32Array.from(column, value => value - 1);
	return { first, at, task, values: values.map(() => less(columns.next(count))) };
}

// All of a timeline: names, and the columns of its runs.
alight.timelineData = async root => {
	const data = JSON.parse(root.querySelector("script.head").textContent);
	const columns = await alight.columns(root);
	const cpus = data.cpus.length;
	for (const run of data.runs) {
		run.slices = unpackSlices(columns, cpus);
		run.idles = unpackIdle(columns, cpus, run.slices, run.end);
		run.clocks = unpackClocks(columns, cpus);
		run.marks = unpackMarks(columns, cpus, run.slices, data.columns);
	}
	data.end = Math.max(data.start + 1, ...data.runs.map(run => run.end));
	return data;
};

// CPUs on which any run has a slice or a mark.
alight.usedCpus = data => [...data.cpus.keys()].filter(cpu =>
	data.runs.some(({ slices, marks }) => [slices, marks].some(({ first }) =>
		first[cpu] < first[cpu + 1])));

// The first place from `from` on, before `to`, whose number is above the limit; else `to`.
alight.above = (numbers, from, to, limit) => {
	while (from < to) {
		const middle = from + to >>> 1;
		if (numbers[middle] > limit) {
			to = middle;
		} else {
			from = middle + 1;
		}
	}
	return from;
};

// The period that holds this time on this CPU: its place, or -1.
alight.periodAt = (periods, cpu, time) => {
	const at = alight.above(periods.end, periods.first[cpu], periods.first[cpu + 1], time);
	return at < periods.first[cpu + 1] && periods.start[at] <= time ? at : -1;
};

// The clock of a CPU at a time, kHz, or 0 if it is not known.
alight.clockAt = (clocks, cpu, time) => {
	const next = alight.above(clocks.at, clocks.first[cpu], clocks.first[cpu + 1], time);
	return next > clocks.first[cpu] ? clocks.khz[next - 1] : 0;
};

// The mark of these, on a CPU or on all (-1), that is nearest to a time: its place, or -1.
// `wanted` can leave some out.
alight.nearestMark = (marks, cpu, time, wanted = () => true) => {
	const [begin, end] = cpu < 0 ? [0, marks.at.length] : [marks.first[cpu], marks.first[cpu + 1]];
	let best = -1;
	for (let at = begin; at < end; at++) {
		const nearer = best < 0 || Math.abs(marks.at[at] - time) < Math.abs(marks.at[best] - time);
		if (nearer && wanted(at)) {
			best = at;
		}
	}
	return best;
};
