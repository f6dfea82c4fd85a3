// SPDX-License-Identifier: GPL-2.0-only
// What the scripts of a page share: colours of the style sheet, times in words, unpacking.
"use strict";

const alight = {
	// A colour of the style sheet, as [red, green, blue], each 0 to 255.
	colour(name) {
		const style = getComputedStyle(document.documentElement);
		const digits = style.getPropertyValue("--" + name).trim().slice(1);
		const two = digits.length === 3 ? digits.replace(/./g, "$&$&") : digits;
		return [0, 2, 4].map(at => parseInt(two.slice(at, at + 2), 16));
	},

	isDark() {
		const [red, green, blue] = alight.colour("paper");
		return red + green + blue < 384;
	},

	css([red, green, blue], alpha = 1) {
		return `rgb(${red} ${green} ${blue} / ${alpha})`;
	},

	// A colour of OKLCH (lightness 0 to 1, chroma, hue in degrees) as [red, green, blue].
	oklch(lightness, chroma, hue) {
		const a = chroma * Math.cos(hue * Math.PI / 180);
		const b = chroma * Math.sin(hue * Math.PI / 180);
		const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
		const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
		const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
		return [
			4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
			-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
			-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
		].map(linear => {
			const v = Math.min(1, Math.max(0, linear));
			return Math.round(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055));
		});
	},

	// A colour for each name, that can be read on light paper and on dark. It follows from the name,
	// unless a name before has that hue: no two of the first 24 have the same.
	coloursOf(names) {
		const HUES = 24, LIGHT = [0.58, 0.66, 0.74];
		const uses = new Array(HUES).fill(0);
		return names.map((name, at) => {
			const hash = alight.hashOf(name);
			let hue = hash % HUES;
			while (uses[hue] > Math.floor(at / HUES)) {
				hue = (hue + 7) % HUES;
			}
			const lightness = LIGHT[(Math.floor(hash / HUES) + uses[hue]++) % LIGHT.length];
			return alight.oklch(lightness, 0.13, hue * 360 / HUES);
		});
	},

	hashOf(name) {
		let hash = 0x811c9dc5;
		for (const character of name) {
			hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
		}
		hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
		hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
		return (hash ^ hash >>> 16) >>> 0;
	},

	// Calls back when the theme changes, and around printing, which is always on light paper.
	onTheme(callback) {
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
		for (const [event, printing] of [["beforeprint", true], ["afterprint", false]]) {
			addEventListener(event, () => {
				document.documentElement.classList.toggle("printing", printing);
				callback();
			});
		}
	},

	units: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],

	// Nanoseconds in words. `step`: how exact, ns. `like`: a time whose unit is taken.
	time(ns, step = 1, like = ns) {
		const size = Math.abs(like);
		const [unit, name] = alight.units.find(([unit]) => size >= unit) ?? [1, "ns"];
		const digits = Math.max(0, Math.ceil(Math.log10(unit / Math.max(1, step)) - 1e-9));
		return `${(ns / unit).toFixed(digits)} ${name}`;
	},

	// As `time`, exact, without zeros at the end.
	exact(ns) {
		return alight.time(ns).replace(/(\.\d*?)0+ /, "$1 ").replace(". ", " ");
	},

	// The columns of a part, to be read one after the other (columns.rs).
	async columns(root) {
		const text = root.querySelector("script.data").textContent;
		const packed = Uint8Array.fromBase64?.(text)
			?? Uint8Array.from(atob(text), character => character.charCodeAt(0));
		const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
		const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
		let at = 0;
		return {
			// The next column, of so many numbers.
			next(count) {
				const numbers = new Float64Array(count);
				const width = bytes[at++];
				for (let byte = 0, weight = 1; byte < width; byte++, weight *= 256) {
					for (let n = 0; n < count; n++) {
						numbers[n] += bytes[at + n] * weight;
					}
					at += count;
				}
				return numbers;
			},
		};
	},

	// What a part says that could not be drawn.
	failed(root, error) {
		const text = `This browser cannot draw this: ${error.message}. It needs DecompressionStream.`;
		root.prepend(alight.element("p", { role: "alert" }, text));
	},

	// An element with attributes; those that begin with "on" are listeners.
	element(name, attributes = {}, ...children) {
		const made = document.createElement(name);
		for (const [key, value] of Object.entries(attributes)) {
			if (key.startsWith("on")) {
				made.addEventListener(key.slice(2), value);
			} else {
				made.setAttribute(key, value);
			}
		}
		made.append(...children);
		return made;
	},
};
