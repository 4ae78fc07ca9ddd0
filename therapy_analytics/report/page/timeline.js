// The timeline of a session: turns as bars, lanes of the core codes and what to review; on request the other codes and
// synchrony.
// Hundreds of turns are a handful of paths; which turn was meant is found from where the pointer is.

const TIMELINE_HEIGHT = { bars: 46, lane: 20, series: 60, axis: 24 };
const TIMELINE_LEAST = 2; // Pixels a turn, so that none is lost.
const TIMELINE_ZOOMS = [1, 2, 4, 8];
/** What is drawn besides the core, once the reader asked for it: in every session that is opened. */
const timelineMore = { codes: false, synchrony: false };

/**
 * Draw the timeline of a session.
 * @param {object} model - As `sessionModel` makes it.
 * @param {function(number)} onSelect - Called with a turn that the reader picked.
 * @returns {{node: Element, select: function(number|null)}}
 */
function timelineDraw(model, onSelect) {
  const view = { model, onSelect, zoom: 0, equal: !timelineHasPlaces(model.data), turn: null, lane: "", hovered: null };
  view.lanes = timelineLanes(model);
  view.rows = timelineRows(view);
  view.canvas = timelineCanvas(view);
  view.scroller = el("div", { class: "tl-scroll" }, view.canvas);
  view.readout = el("p", { class: "tl-readout" });
  view.labels = el("div", { class: "tl-labels", "aria-hidden": "true" });
  timelineLabels(view);
  const chart = el("div", { class: "tl-chart" }, view.labels, view.scroller);
  const node = el("div", { class: "tl" }, timelineTools(view), chart, view.readout, timelineSwitches(view), timelineLegend(view));
  timelineListen(view);
  timelineTell(view);
  return { node, select: (turn) => timelineSelect(view, turn) };
}

function timelineHasPlaces(data) {
  const whole = (values) => Array.isArray(values) && values.length > 0 && values.every(isNumber);
  return whole(data.start) && whole(data.end);
}

/** What is drawn from the top down, each row with its height: bars, lanes, marks to review, other marks, series, axis. */
function timelineRows(view) {
  const { data } = view.model;
  const rows = [{ kind: "bars", height: TIMELINE_HEIGHT.bars }];
  for (const lane of view.lanes) if (lane.core || timelineMore.codes) rows.push({ kind: "lane", lane, height: TIMELINE_HEIGHT.lane });
  for (const marks of timelineMarks(data)) rows.push({ kind: "marks", marks, height: TIMELINE_HEIGHT.lane });
  if (timelineMore.synchrony) for (const series of timelineSeries(data)) rows.push({ kind: "series", series, height: TIMELINE_HEIGHT.series });
  rows.push({ kind: "axis", height: TIMELINE_HEIGHT.axis });
  let top = 0;
  for (const row of rows) {
    row.top = top;
    top += row.height;
  }
  return rows;
}

/** The lanes of marks that a session has: the turns to review, which its number counts, and other marked turns. */
function timelineMarks(data) {
  const of = (also) => (data.marks ?? []).filter((mark) => (mark.also ?? false) === also);
  const kind = (key, label, text, marks) => ({ key, label, text, marks, turns: new Set(marks.flatMap((mark) => mark.turns)) });
  return [kind("", "To review", "to review", of(false)), kind("also", "Also marked", "also marked", of(true))].filter(({ turns }) => turns.size);
}

/** The series of synchrony that have a value. */
function timelineSeries(data) {
  return (data.series ?? []).filter((one) => one.values.some(isNumber));
}

/** The lanes for which this report has codes, with the codes whose marks they show. */
function timelineLanes(model) {
  return model.overview.lanes.map(({ key, label, role, core }) => {
    const codes = model.codes.filter((code) => code.lane === key && code.marked);
    return { key, label, core, role: role[0] ?? "", codes, split: codes.some((code) => code.down) };
  });
}

/** What a lane shows at a turn: {up, down}: "" none, "sure", "unsure". */
function timelineHit(view, lane, turn) {
  const hit = { up: "", down: "" };
  if (lane.role && view.model.roles[turn] !== lane.role) return hit;
  for (const code of lane.codes) {
    const side = code.down ? "down" : "up";
    if (view.model.on(turn, code.column) && hit[side] !== "sure") hit[side] = view.model.unsure(turn, code.column) ? "unsure" : "sure";
  }
  return hit;
}

/* ---- The labels on the left: HTML, so that they stay where they are while the turns scroll ---- */

function timelineLabels(view) {
  view.labels.replaceChildren(...view.rows.map((row) => timelineLabel(view, row)));
}

/** What is drawn only on request: a switch each, of those that this session has. */
function timelineSwitches(view) {
  const all = [["codes", "other codes", view.lanes.some((lane) => !lane.core)], ["synchrony", "style and meaning (synchrony)", timelineSeries(view.model.data).length > 0]];
  const box = ([key, text]) => el("label", {}, el("input", { type: "checkbox", "data-more": key, checked: timelineMore[key], onchange: (event) => {
    timelineMore[key] = event.target.checked;
    view.rows = timelineRows(view);
    timelineLabels(view);
    timelinePaint(view);
    timelineNotes(view);
  } }), text);
  const there = all.filter(([, , has]) => has);
  return there.length ? el("fieldset", { class: "tl-more" }, el("legend", {}, "Also show"), there.map(box)) : null;
}

function timelineLabel(view, row) {
  const node = el("div", { class: `tl-label tl-${row.kind}${row.lane ? ` tl-of-${row.lane.role}` : ""}` });
  if (row.kind === "bars") node.append(el("span", {}, "Therapist"), el("span", {}, "Client"));
  if (row.kind === "marks") node.append(el("span", {}, row.marks.label), el("span", { class: "quiet tl-count" }, counted(row.marks.turns.size, "turn")));
  if (row.kind === "series") node.append(...timelineSeriesLabel(row.series));
  if (row.kind === "axis") node.append((view.axisLabel = el("span", { class: "quiet" })));
  if (row.kind === "lane") node.append(el("span", {}, row.lane.label), (row.count = el("span", { class: "quiet tl-count" })));
  return node;
}

function timelineSeriesLabel(series) {
  const meaning = isNumber(series.null_mean) ? "Line: mean. Band: the mean of shuffled turns. " : "Line: mean. ";
  return [el("span", {}, series.label), el("span", { class: "quiet" }, `${meaning}Not a quality score.`)];
}

/* ---- Painting ---- */

/** The focusable frame: one tab stop, in which arrow keys walk through the turns. */
function timelineCanvas(view) {
  const last = view.model.n - 1;
  return el("div", {
    class: "tl-canvas", role: "slider", tabindex: 0, "aria-label": "Turn on the timeline", "aria-describedby": "tl-keys",
    "aria-valuemin": 0, "aria-valuemax": Math.max(last, 0), "aria-valuenow": 0, "aria-valuetext": "no turn picked yet",
  });
}

function timelineWidth(view) {
  const space = Math.max(view.scroller.clientWidth || 720, 120);
  return Math.max(Math.round(space * TIMELINE_ZOOMS[view.zoom]), view.model.n * TIMELINE_LEAST);
}

/** Where turns begin and end, in pixels. */
function timelinePlaces(view, width) {
  const { data, n } = view.model;
  if (view.equal) return { from: (i) => (i / n) * width, to: (i) => ((i + 1) / n) * width, low: 0, high: n };
  const low = Math.min(...data.start);
  const high = Math.max(...data.end, low + 1e-9);
  const place = (x) => ((x - low) / (high - low)) * width;
  return { from: (i) => place(data.start[i]), to: (i) => place(data.end[i]), low, high };
}

function timelinePaint(view) {
  const width = timelineWidth(view);
  const last = view.rows.at(-1);
  const height = last.top + last.height;
  view.width = width;
  view.places = timelinePlaces(view, width);
  const picture = svg("svg", { class: "tl-svg", width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  view.highlight = svg("path", { class: "tl-picked" });
  picture.append(view.highlight);
  for (const row of view.rows) picture.append(svg("g", { transform: `translate(0 ${row.top})` }, ...TIMELINE_PAINTERS[row.kind](view, row)));
  view.canvas.replaceChildren(picture);
  timelineHighlight(view);
}

const TIMELINE_PAINTERS = { bars: timelineBars, lane: timelineLanePaths, marks: timelineReview, series: timelineSeriesPaths, axis: timelineAxis };

/** The path of a rectangle, a pixel wide at the least, so that it is seen. */
function timelineBox(from, to, top, bottom) {
  return `M${round1(from)} ${top}H${round1(Math.max(to, from + 1))}V${bottom}H${round1(from)}Z`;
}

const timelineMiddle = (view, i) => (view.places.from(i) + view.places.to(i)) / 2;

/** Bars of the turns: the therapist's above the middle, the client's below, others' around it. */
function timelineBars(view) {
  const reach = { t: [2, 22], c: [24, 44], o: [18, 28] };
  const paths = { t: "", c: "", o: "" };
  for (let i = 0; i < view.model.n; i += 1) {
    const role = view.model.roles[i] in reach ? view.model.roles[i] : "o";
    const left = view.places.from(i);
    // A hair between neighbours of one role; never thinner than a line.
    paths[role] += timelineBox(left, Math.max(view.places.to(i) - 0.5, left + 1), ...reach[role]);
  }
  const drawn = Object.entries(paths).map(([role, d]) => svg("path", { class: `tl-bar-${role}`, d }));
  return [svg("path", { class: "tl-line", d: `M0 23H${view.width}` }), ...drawn];
}

/** The marks of a lane: a tall one is decided, a short one unsure. */
function timelineLanePaths(view, row) {
  const { lane } = row;
  const { split } = lane;
  const reach = split ? { up: { sure: [1.5, 10], unsure: [6, 10] }, down: { sure: [10, 18.5], unsure: [10, 14] } }
    : { up: { sure: [3, 17], unsure: [10.5, 17] } };
  const paths = { up: "", down: "" };
  const counts = { up: 0, down: 0 };
  for (let i = 0; i < view.model.n; i += 1) {
    const hit = timelineHit(view, lane, i);
    for (const side of Object.keys(reach)) {
      if (!hit[side]) continue;
      counts[side] += 1;
      paths[side] += timelineTick(view, i, reach[side][hit[side]]);
    }
  }
  const own = lane.role ? view.model.nOf[lane.role] ?? 0 : view.model.n;
  row.count.textContent = split ? `+${counts.up} −${counts.down} of ${own}` : `${counts.up} of ${own}`;
  const middle = svg("path", { class: split ? "tl-line" : "tl-hair", d: `M0 ${split ? 10 : 17.5}H${view.width}` });
  const path = (cls, d) => svg("path", { class: cls, d });
  const mark = `tl-mark-${lane.role || "o"}`;
  return [middle, path(mark, paths.up), path(`${mark} tl-below`, paths.down)];
}

function timelineTick(view, i, [top, bottom]) {
  const wide = Math.min(Math.max((view.places.to(i) - view.places.from(i)) * 0.5, 2), 6);
  const middle = timelineMiddle(view, i);
  return timelineBox(middle - wide / 2, middle + wide / 2, top, bottom);
}

/** Marked turns: a filled triangle for a cue of danger, an open diamond for all else. */
function timelineReview(view, row) {
  const paths = { danger: "", other: "" };
  const seen = new Set();
  for (const mark of row.marks.marks) {
    const { danger } = mark;
    for (const turn of mark.turns) {
      const x = round1(timelineMiddle(view, turn));
      if (danger) paths.danger += `M${x} 2l6 13h-12Z`;
      else if (!seen.has(turn)) paths.other += `M${x} 3l5.5 6l-5.5 6l-5.5 -6Z`;
      if (!danger) seen.add(turn);
    }
  }
  return [svg("path", { class: "tl-hair", d: `M0 17.5H${view.width}` }), svg("path", { class: "tl-review", d: paths.other }), svg("path", { class: "tl-danger", d: paths.danger })];
}

function timelineSeriesPaths(view, { series, height }) {
  const high = series.high ?? Math.max(...series.values.filter(isNumber), 1);
  const low = series.low ?? Math.min(...series.values.filter(isNumber), 0);
  const y = (value) => round1(6 + (1 - (Math.min(Math.max(value, low), high) - low) / (high - low || 1)) * (height - 12));
  const frame = svg("path", { class: "tl-hair", d: `M0 ${y(low)}H${view.width}M0 ${y(high)}H${view.width}` });
  return [frame, ...timelineMatching(view, series, y)];
}

/** A dot a turn, the mean of the session as a line, and where the means of shuffled turns lie (95 of 100) as a band. */
function timelineMatching(view, series, y) {
  const parts = [];
  if (isNumber(series.null_lo) && isNumber(series.null_hi)) {
    parts.push(svg("path", { class: "tl-null", d: timelineBox(0, view.width, y(series.null_hi), Math.max(y(series.null_lo), y(series.null_hi) + 1)) }));
  }
  if (isNumber(series.null_mean)) parts.push(svg("path", { class: "tl-null-line", d: `M0 ${y(series.null_mean)}H${view.width}` }));
  let dots = "";
  series.values.forEach((value, i) => {
    if (isNumber(value)) dots += `M${round1(timelineMiddle(view, i) - 2)} ${y(value)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`;
  });
  const known = series.values.filter(isNumber);
  const mean = isNumber(series.mean) ? series.mean : known.reduce((sum, value) => sum + value, 0) / known.length;
  return [...parts, svg("path", { class: "tl-dot", d: dots }), svg("path", { class: "tl-mean", d: `M0 ${y(mean)}H${view.width}` })];
}

/** Round numbers below: minutes, words or turns. */
function timelineAxis(view) {
  const { low, high } = view.places;
  const step = timelineStep((high - low) / Math.max(view.width / 90, 1), view.equal ? 1 : 0);
  const parts = [svg("path", { class: "tl-line", d: `M0 4H${view.width}` })];
  if (!(high > low)) return parts;
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    const x = round1(((value - low) / (high - low)) * view.width);
    parts.push(svg("path", { class: "tl-line", d: `M${x} 4v5` }));
    // The last one would be cut off at the edge.
    const atEdge = x > view.width - 32;
    parts.push(svg("text", { class: "tl-tick", x: atEdge ? x - 3 : x + 2, y: 16, "text-anchor": atEdge ? "end" : "start" }, number(round1(value))));
  }
  view.axisLabel.textContent = view.equal ? "turn" : view.model.data.unit;
  return parts;
}

function timelineStep(rough, least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  return Math.max([1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough), least);
}

/* ---- Picking a turn ---- */

function timelineSelect(view, turn) {
  view.turn = turn;
  view.canvas.setAttribute("aria-valuenow", turn ?? 0);
  view.canvas.setAttribute("aria-valuetext", turn === null ? "no turn picked yet" : sessionSpoken(view.model, turn));
  timelineHighlight(view, true);
  timelineTell(view);
}

function timelineHighlight(view, follow = false) {
  if (!view.highlight) return;
  view.highlight.setAttribute("d", "");
  if (view.turn === null) return;
  const middle = timelineMiddle(view, view.turn);
  const half = Math.max((view.places.to(view.turn) - view.places.from(view.turn)) / 2, 2);
  const foot = view.rows.at(-1).top + 4;
  view.highlight.setAttribute("d", timelineBox(middle - half, middle + half, 0.5, foot));
  const shown = view.scroller;
  if (follow && (middle < shown.scrollLeft || middle > shown.scrollLeft + shown.clientWidth)) shown.scrollLeft = middle - shown.clientWidth / 2;
}

/** The line beneath: the turn under the pointer, else the picked one. */
function timelineTell(view) {
  const turn = view.hovered ?? view.turn;
  view.readout.textContent = turn === null ? "Click a bar or a mark to see its turn." : sessionCapital(sessionSpoken(view.model, turn));
}

/** The turn nearest to a place on the x-axis, among those of which `fits` is true. */
function timelineNearest(view, x, fits = () => true) {
  let best = null;
  let least = Infinity;
  for (let i = 0; i < view.model.n; i += 1) {
    const [from, to] = [view.places.from(i), view.places.to(i)];
    const off = x < from ? from - x : x > to ? x - to : 0;
    if (off < least && fits(i)) [best, least] = [i, off];
  }
  return { turn: best, off: least };
}

/** In a lane a mark that is near is meant rather than the turn exactly there. */
function timelineTurnAt(view, event) {
  const frame = view.canvas.getBoundingClientRect();
  const x = ((event.clientX - frame.left) / frame.width) * view.width;
  const y = event.clientY - frame.top;
  const row = view.rows.find((one) => y < one.top + one.height);
  const near = timelineNearest(view, x, timelineFits(view, row, y));
  return near.off <= 8 ? near.turn : timelineNearest(view, x).turn;
}

function timelineFits(view, row, y) {
  if (row?.kind === "bars") return (i) => view.model.roles[i] === (y - row.top < 23 ? "t" : "c");
  if (row?.kind === "lane") return (i) => timelineHas(view, row.lane, i);
  if (row?.kind === "marks") return (i) => row.marks.turns.has(i);
  return () => true;
}

function timelineHas(view, lane, i) {
  const hit = timelineHit(view, lane, i);
  return Boolean(hit.up || hit.down);
}

/** The next turn with a mark of the chosen lane, or null. */
function timelineNext(view, step) {
  const lane = view.lanes.find((one) => one.key === view.lane);
  const marks = timelineMarks(view.model.data).find(({ key }) => key === view.lane);
  const wanted = lane ? (i) => timelineHas(view, lane, i) : (i) => marks?.turns.has(i);
  for (let i = (view.turn ?? (step > 0 ? -1 : view.model.n)) + step; i >= 0 && i < view.model.n; i += step) if (wanted(i)) return i;
  return null;
}

function timelineKey(view, event) {
  const last = view.model.n - 1;
  const now = view.turn ?? (event.key === "ArrowLeft" ? view.model.n : -1);
  const jump = { "[": -1, "]": 1 }[event.key] ?? (event.shiftKey ? { ArrowLeft: -1, ArrowRight: 1 }[event.key] : undefined);
  const to = { ArrowRight: now + 1, ArrowUp: now + 1, ArrowLeft: now - 1, ArrowDown: now - 1, PageUp: now + 10, PageDown: now - 10, Home: 0, End: last };
  if (event.ctrlKey || event.metaKey || event.altKey || (jump === undefined && !(event.key in to)) || last < 0) return;
  event.preventDefault();
  if (jump !== undefined) timelineJump(view, jump);
  else view.onSelect(Math.min(Math.max(to[event.key], 0), last));
}

function timelineJump(view, step) {
  const turn = timelineNext(view, step);
  if (turn === null) announce(`No ${step > 0 ? "later" : "earlier"} turn with ${timelineLaneName(view)}.`);
  else view.onSelect(turn);
}

/** What is looked for, in words. */
const timelineLaneName = (view) => view.lanes.find((one) => one.key === view.lane)?.label ?? (view.lane === "also" ? "another mark" : "a mark to review");

function timelineListen(view) {
  view.canvas.addEventListener("keydown", (event) => timelineKey(view, event));
  view.canvas.addEventListener("click", (event) => {
    const turn = timelineTurnAt(view, event);
    if (turn !== null) view.onSelect(turn);
  });
  view.canvas.addEventListener("pointermove", (event) => {
    view.hovered = timelineTurnAt(view, event);
    timelineTell(view);
  });
  view.canvas.addEventListener("pointerleave", () => {
    view.hovered = null;
    timelineTell(view);
  });
  let drawn = 0;
  new ResizeObserver(() => {
    if (view.scroller.clientWidth === drawn) return;
    drawn = view.scroller.clientWidth;
    requestAnimationFrame(() => timelinePaint(view));
  }).observe(view.scroller);
}

/* ---- Tools and legend ---- */

function timelineTools(view) {
  const chosen = (event) => { view.lane = event.target.value; };
  const marked = timelineMarks(view.model.data).map(({ key, text }) => [key, text]);
  const options = [...view.lanes.map((lane) => [lane.key, lane.label]), ...marked];
  view.lane = options[0]?.[0] ?? "";
  const select = el("select", { id: "tl-lane", onchange: chosen }, options.map(([value, text]) => el("option", { value }, text)));
  const step = (text, by) => el("button", { type: "button", onclick: () => timelineJump(view, by) }, text);
  const jump = el("div", { class: "field" }, el("label", { for: "tl-lane" }, "Go to turns with"), el("div", { class: "tl-jump" }, select, step("Previous", -1), step("Next", 1)));
  return el("div", { class: "controls tl-tools" }, jump, timelineWidths(view), timelineZoom(view));
}

function timelineWidths(view) {
  if (!timelineHasPlaces(view.model.data)) return null;
  const choose = (equal) => { view.equal = equal; timelinePaint(view); };
  const radio = (text, equal) => el("label", {}, el("input", { type: "radio", name: "tl-width", checked: equal === view.equal, onchange: () => choose(equal) }), text);
  return el("fieldset", {}, el("legend", {}, "Width of a turn"), radio(`its ${view.model.data.unit}`, false), " ", radio("all alike", true));
}

function timelineZoom(view) {
  const set = (by) => {
    view.zoom = Math.min(Math.max(view.zoom + by, 0), TIMELINE_ZOOMS.length - 1);
    timelinePaint(view);
    timelineHighlight(view, true);
    announce(view.zoom === 0 ? "whole session" : `${TIMELINE_ZOOMS[view.zoom]} times as wide`);
  };
  const button = (text, name, by) => el("button", { type: "button", "aria-label": name, onclick: () => set(by) }, text);
  return el("div", { class: "field", role: "group", "aria-label": "Zoom" }, el("span", { class: "label" }, "Zoom"), el("div", { class: "tl-jump" }, button("−", "Narrower", -1), button("+", "Wider", 1)));
}

function timelineLegend(view) {
  const picture = (cls, d) => svg("svg", { class: "tl-key", width: 14, height: 16, viewBox: "0 0 14 16", "aria-hidden": "true" }, svg("path", { class: cls, d }));
  const item = (cls, d, text) => el("li", {}, picture(cls, d), text);
  const items = [
    item("tl-mark-t", "M4 1h5v14h-5Z", "has the code"), item("tl-mark-t", "M4 8h5v7h-5Z", "has it, unsure"),
  ];
  const marks = (view.model.data.marks ?? []).filter((mark) => mark.turns.length);
  const isDanger = (mark) => mark.danger;
  if (marks.some(isDanger)) items.push(item("tl-danger", "M7 1l6 13h-12Z", "cue of danger"));
  if (!marks.every(isDanger)) items.push(item("tl-review", "M7 2l5.5 6l-5.5 6l-5.5 -6Z", "another mark"));
  const keys = "Keys, when the timeline has the focus: arrows and Home, End walk through the turns; [ and ], or Shift and an arrow, go to the next turn chosen in “Go to turns with”.";
  view.notes = el("p", { class: "quiet small tl-notes" });
  timelineNotes(view);
  return el("div", {}, el("ul", { class: "tl-legend" }, items), view.notes, el("p", { class: "quiet small", id: "tl-keys" }, keys));
}

/** On a phone the words about the curves stand beneath, as the labels have no space for them. */
function timelineNotes(view) {
  const series = view.rows.filter((row) => row.kind === "series").map((row) => row.series);
  view.notes.textContent = series.map((one) => timelineSeriesLabel(one).map((node) => node.textContent).join(": ")).join(" ");
}
