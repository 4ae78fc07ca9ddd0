// What both views share. All text enters the page by createTextNode or setAttribute, never as HTML: ids, labels and
// transcripts are other people's words.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
/** What stands where a value is not defined. Never 0. */
const NOTHING = "–";

/**
 * An HTML element. `attributes` may hold strings, numbers, true (set, empty), false, null (left out) and functions under
 * "onclick" and the like, which become listeners. Children are nodes, text, numbers, arrays of them, or null.
 */
function el(tag, attributes, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** An SVG element, with attributes and children as `el` takes them. */
function svg(tag, attributes, ...children) {
  return furnish(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function furnish(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.replace(/^on/, ""), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  addTo(node, children);
  return node;
}

function addTo(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) addTo(node, child);
    else if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }
}

/** The parsed data block of that id, or null. Parsed anew each time: who needs it twice keeps it. */
function readData(id) {
  const block = document.getElementById(id);
  return block === null ? null : JSON.parse(block.textContent);
}

function isNumber(x) {
  return typeof x === "number" && Number.isFinite(x);
}

/** 0.123 -> "12%". What is not quite none or all does not read as 0% or 100%. */
function percent(x) {
  if (!isNumber(x)) return NOTHING;
  if (x > 0 && x < 0.005) return "<1%";
  if (x < 1 && x >= 0.995) return ">99%";
  return `${minus(Math.round(x * 100))}%`;
}

/** 0.0314 -> "0.031", 3.14159 -> "3.14", 31.4 -> "31.4", 314.1 -> "314". A whole number stays whole. */
function number(x) {
  if (!isNumber(x)) return NOTHING;
  if (Number.isInteger(x)) return minus(x);
  const size = Math.abs(x);
  return minus(Number(x.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3)));
}

/** A minus sign instead of a hyphen; -0 is 0. */
function minus(x) {
  return x < 0 ? `−${-x}` : String(x === 0 ? 0 : x);
}

const IN_PERCENT = new Set(["proportion", "probability"]);

/** A value in its unit: a proportion in per cent, all else as a number. */
function quantity(x, unit = "proportion") {
  return IN_PERCENT.has(unit) ? percent(x) : number(x);
}

/** "10 to 25%", or "" where an end is not defined. */
function interval(lo, hi, unit = "proportion") {
  if (!isNumber(lo) || !isNumber(hi)) return "";
  if (!IN_PERCENT.has(unit)) return `${number(lo)} to ${number(hi)}`;
  return `${minus(Math.round(lo * 100))} to ${minus(Math.round(hi * 100))}%`;
}

/** "1 session", "3 sessions". */
function counted(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

/** Say it to a screen reader, without moving the focus. */
function announce(text) {
  const region = document.getElementById("announce");
  // The same words twice would not be read twice: clear first, and speak a moment later.
  region.textContent = "";
  setTimeout(() => { region.textContent = text; }, 60);
}

/** Hand the reader a file. Nothing leaves the machine. */
function download(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Rows of cells as CSV (RFC 4180). A cell that a spreadsheet would take for a formula gets a ' in front. */
function csvText(rows) {
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  let text = String(value);
  if (/^'*[=+\-@\u0000-\u001f]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The address of a session's view, or of a turn in it. */
function sessionHref(id, turn = null) {
  const address = `#session/${encodeURIComponent(id)}`;
  return turn === null ? address : `${address}/turn/${turn}`;
}

/** A wide table in a region of its own that scrolls, can be reached by keyboard and has a name. */
function scrollRegion(label, ...children) {
  return el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: 0 }, ...children);
}

/** A part of the page that opens on demand. */
function disclosure(summary, ...children) {
  return el("details", {}, el("summary", {}, summary), ...children);
}

const BAR = { width: 88, height: 16, pad: 2 };

/** A function from values to pixels in a row `width` wide; values beyond low and high stop at its edges. */
function scaleTo(low, high, width, pad = 2) {
  const span = high - low || 1;
  return (x) => pad + Math.min(Math.max((x - low) / span, 0), 1) * (width - 2 * pad);
}

/**
 * A small picture: a bar from zero to the value, its interval as a line with ends, and behind it the band of a reference.
 * @param {number|null} value - In the unit of low and high; null gives an empty picture.
 * @param {object} options - low, high: the ends of the scale; reference: [from, to] of the band or null;
 *   label: what a screen reader says; without one the picture is silent, for use beside the same numbers as text;
 *   width: in pixels.
 */
function barWithInterval(value, lo, hi, { low = 0, high = 1, reference = null, label = null, width = BAR.width } = {}) {
  const range = [low, high ?? 1];
  const place = scaleTo(...range, width, BAR.pad);
  const spoken = label === null ? { "aria-hidden": "true" } : { role: "img", "aria-label": label };
  const frame = { class: "bar", width, height: BAR.height, viewBox: `0 0 ${width} ${BAR.height}` };
  return svg("svg", { ...frame, ...spoken }, ...barParts(value, [lo, hi], reference, place, range));
}

function barParts(value, ends, reference, place, range) {
  const parts = [];
  if (reference && reference.every(isNumber)) parts.push(svg("path", { class: "bar-band", d: barBox(place(reference[0]), place(reference[1]), 0, 16) }));
  const zero = place(0);
  parts.push(svg("path", { class: "bar-zero", d: `M${round1(zero)} 0V16` }));
  if (!isNumber(value)) return parts;
  parts.push(svg("path", { class: "bar-value", d: barBox(zero, place(value), 4.5, 11.5) }));
  if (ends.every(isNumber)) parts.push(svg("path", { class: "bar-interval", d: whisker(ends, place, range) }));
  return parts;
}

/** The path of a rectangle; a pixel wide at the least, so that it is seen. */
function barBox(from, to, top, bottom) {
  const left = Math.min(from, to);
  const right = Math.max(from, to, left + 1);
  return `M${round1(left)} ${top}H${round1(right)}V${bottom}H${round1(left)}Z`;
}

/** The path of a line with ends; an end that lies beyond the scale has no cap. */
function whisker([lo, hi], place, [low, high]) {
  const [a, b] = [round1(place(lo)), round1(place(hi))];
  return `${lo < low ? "" : `M${a} 5v6`}M${a} 8H${b}${hi > high ? "" : `M${b} 5v6`}`;
}

function round1(x) {
  return Math.round(x * 10) / 10;
}
