// The strip: the core numbers of a session or a counselor, each with its interval, beside skilled people's sessions. Which
// numbers they are is said where each measure is defined.

const STRIP_BAR = 150;

/** The values of a session as the strip takes them: [value, lo, hi, n, of] for each measure of the strip. */
function stripValues(overview, index) {
  return overview.strip.map((name) => overview.sessions[index].values[overview.measures.findIndex((one) => one.name === name)]);
}

/** The numbers as a list of tiles; those of which nothing is known in these results are not among them. */
function stripDraw(overview, values, label) {
  const measures = overview.strip.map((name) => overview.measures.find((one) => one.name === name));
  const tiles = measures.map((measure, at) => stripTile(measure, values[at]));
  return el("ul", { class: "strip", "aria-label": label }, tiles);
}

function stripTile(measure, [value, lo, hi, n, of]) {
  const { unit } = measure;
  const people = measure.references.human_high;
  const band = people ? [people.q25, people.q75] : null;
  const range = interval(lo, hi, unit);
  const turns = isNumber(n) && isNumber(of) ? `${n} of ${of}` : "";
  const shown = isNumber(value) ? [el("b", {}, quantity(value, unit)), range ? el("span", { class: "ci" }, ` ${range}`) : null] : undefinedMark();
  const beside = people ? [el("span", { class: "strip-band", "aria-hidden": "true" }), el("span", { class: "unseen" }, "skilled people: "), interval(...band, unit)] : null;
  return el("li", { class: "tile" },
    el("span", { class: "tile-name" }, measure.label, meaningButton(measure)),
    el("span", { class: "tile-value" }, shown),
    // A count beside which nothing stands has no scale, and a bar would say nothing.
    people || isNumber(measure.high) ? barWithInterval(value, lo, hi, { ...stripScale(measure, value), reference: band, width: STRIP_BAR }) : null,
    el("span", { class: "tile-beside" }, el("span", {}, beside), turns ? el("span", {}, turns, el("span", { class: "unseen" }, " turns")) : null));
}

/** Shares from 0 to all; ratios as far as the value and the 95th percentile of skilled people go. */
function stripScale(measure, value) {
  if (isNumber(measure.low) && isNumber(measure.high)) return { low: measure.low, high: measure.high };
  return { low: 0, high: Math.max(1, value ?? 0, measure.references.human_high?.q95 ?? 0) };
}

/** What bar, line and band are. */
function stripLegend(overview) {
  const n = Math.max(0, ...overview.measures.map((one) => one.references.human_high?.n ?? 0));
  const band = n ? [" Green, and range beneath: the middle half of ", `${n} sessions of skilled people.`] : null;
  return el("p", { class: "quiet small strip-legend" }, "Bar: the value. Line, and range beside it: its 95% interval.", band);
}
