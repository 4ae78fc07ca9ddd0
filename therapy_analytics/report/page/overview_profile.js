// The profile of one session or group: each behaviour as a point with its interval, against people's sessions of high and
// of low quality and against language models.

const PROFILE_ROW = { height: 44, middle: 13, top: 3, models: 35 };
/** One small shape a language model: told apart by form, not by colour. */
const SHAPES = ["M0 -4.5L4.5 3.5H-4.5Z", "M-4 -4H4V4H-4Z", "M0 -5.2L5.2 0L0 5.2L-5.2 0Z", "M0 4.5L4.5 -3.5H-4.5Z", "M-4.5 0H4.5M0 -4.5V4.5", "M-4 -4L4 4M-4 4L4 -4"];

let profileView = null;

function renderProfile(overview) {
  const measures = overview.measures.map((measure, k) => ({ measure, k })).filter(({ measure }) => measure.profile);
  const none = el("p", {}, "The codes of these sessions have no profile.");
  const parts = measures.length && overview.sessions.length ? profileParts(overview, measures) : none;
  return el("section", { "aria-labelledby": "profile", class: "profile-part" }, part("profile"), parts);
}

function profileParts(overview, measures) {
  const models = overview.references.filter((r) => r.kind === "llm").map((r, i) => ({ ...r, shape: SHAPES[i % SHAPES.length] }));
  const chooser = el("select", { id: "profile-of" }, ...profileOptions(overview));
  profileView = { overview, measures, models, chooser, place: el("div", { class: "profile" }) };
  chooser.addEventListener("change", () => { chooseProfile(chooser.value); announce(`Profile of ${profileChosen().name}.`); });
  drawProfile();
  return [el("p", {}, profilePurpose(overview)), el("div", { class: "controls" }, field("Profile of", chooser)),
    profileLegend(overview, models), profileView.place, referenceNumbers(overview, measures)];
}

function profilePurpose(overview) {
  const means = "Each point is the share of that role’s turns with the behaviour, its line the 95% interval.";
  if (overview.references.length) return `${means} A session outside the bands is unlike those of the references, and not thereby worse.`;
  return `${means} There are no references here: they rest on the codes of this program’s own taggers.`;
}

function profileOptions(overview) {
  const option = (value, text) => el("option", { value }, text);
  const groups = overview.about.filter((a) => overview.groups[a.name]?.length).map((a) => el("optgroup", { label: `By ${a.label}` },
    ...overview.groups[a.name].map((group) => option(`group ${a.name} ${group.name}`, `${group.name || "(not given)"} (${counted(group.n_sessions, "session")})`))));
  return [el("optgroup", { label: "Sessions" }, ...overview.sessions.map((session, i) => option(`session ${i}`, session.id))), ...groups];
}

/** Show the profile of "session 3" or "group counselor Martin Boyle". */
function chooseProfile(key) {
  if (profileView === null) return;
  profileView.chooser.value = key;
  // On paper stands a profile that the reader chose, not the first of the list.
  profileView.place.closest("section").classList.add("chosen");
  drawProfile();
}

function profileChosen() {
  const { overview, chooser } = profileView;
  const [kind, name, ...rest] = chooser.value.split(" ");
  if (kind === "session") return { name: overview.sessions[Number(name)].id, values: overview.sessions[Number(name)].values };
  const group = overview.groups[name].find((one) => one.name === rest.join(" "));
  return { name: group.name, values: group.values };
}

function drawProfile() {
  const { measures, place } = profileView;
  const { name, values } = profileChosen();
  const rows = (list) => [...groupBy(list, ({ measure }) => measure.family)].flatMap(([family, members]) => profileFamily(family, members, values));
  const checked = measures.filter(({ measure }) => measure.evidence !== "untested");
  const others = measures.filter(({ measure }) => measure.evidence === "untested");
  const fold = others.length ? disclosure(`${counted(others.length, "behaviour")} whose rates were not checked on real sessions`, ...rows(others)) : null;
  if (fold) fold.open = place.querySelector("details")?.open ?? false;
  const sheet = profileView.chooser.value.startsWith("group counselor ") ? sheetLink(profileView.overview, name) : null;
  place.replaceChildren(el("p", { class: "on-paper" }, `Profile of ${name}.`), el("p", { class: "links" }, sheet), ...rows(checked), ...(fold ? [fold] : []));
}

function profileFamily(family, list, values) {
  const scale = profileScale(list, values);
  const rows = list.map(({ measure, k }) => profileRow(measure, values[k], scale));
  return [el("h3", { class: "profile-family" }, family), el("div", { class: "profile-axis", "aria-hidden": "true" }, profileAxis(scale), profileView.overview.references.length ? el("span", { class: "profile-references quiet small" }, "people’s middle half") : null), el("ul", { class: "profile-rows" }, ...rows)];
}

/** From 0 to a round number that holds the bands, points and intervals of the family. */
function profileScale(list, values) {
  const ends = list.flatMap(({ measure, k }) => [values[k][0], values[k][2], ...Object.values(measure.references).flatMap((r) => [r.q75, r.median])]);
  const top = Math.max(0.1, ...ends.filter(isNumber));
  return { low: 0, high: Math.min(1, Math.ceil(top * 10 - 1e-9) / 10) };
}

const across = (scale, x) => `${round1(100 * Math.min(Math.max((x - scale.low) / (scale.high - scale.low), 0), 1) * 10) / 10}%`;

function profileTicks({ high }) {
  const step = high > 0.6 ? 0.2 : high > 0.25 ? 0.1 : 0.05;
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => i * step);
}

function profileAxis(scale) {
  const texts = profileTicks(scale).map((x, i, all) => svg("text", { x: across(scale, x), y: 11, "text-anchor": i === 0 ? "start" : i === all.length - 1 && x > scale.high * 0.95 ? "end" : "middle" }, percent(x)));
  return svg("svg", { class: "profile-picture", width: "100%", height: 14 }, ...texts);
}

function profileRow(measure, value, scale) {
  return el("li", {}, el("span", { class: "profile-name" }, measure.label, meaningButton(measure)),
    el("span", { class: "profile-value" }, ...profileNumbers(measure, value)),
    profilePicture(measure, value, scale), el("span", { class: "profile-references quiet small" }, ...referenceWords(measure)));
}

function profileNumbers(measure, [value, lo, hi, n, of]) {
  if (!isNumber(value)) return undefinedMark();
  const range = interval(lo, hi, measure.unit);
  const turns = isNumber(n) && isNumber(of) ? `${n} of ${counted(of, "turn")}` : "";
  return [el("b", {}, quantity(value, measure.unit)), el("span", { class: "ci" }, range ? ` ${range}` : " no interval"), turns ? el("span", { class: "ci turns" }, ` ${turns}`) : null];
}

/** The middle half of people's sessions in words, high quality above low. */
function referenceWords(measure) {
  const said = { human_high: "high", human_low: "low" };
  const found = Object.entries(said).filter(([id]) => measure.references[id]);
  return found.map(([id, name]) => el("span", {}, `${name}: ${interval(measure.references[id].q25, measure.references[id].q75, measure.unit)} `));
}

function profilePicture(measure, value, scale) {
  const { height } = PROFILE_ROW;
  const grid = profileTicks(scale).map((x) => svg("line", { class: "grid", x1: across(scale, x), x2: across(scale, x), y1: 0, y2: height }));
  const parts = [...grid, ...humanBands(measure, scale), ...modelMarks(measure, scale), ...profilePoint(value, scale)];
  return svg("svg", { class: "profile-picture", width: "100%", height, "aria-hidden": "true" }, ...parts);
}

function humanBands(measure, scale) {
  const { human_high: high, human_low: low } = measure.references;
  return [high && bandOf("high", high, scale, [PROFILE_ROW.top, 20]), low && bandOf("low", low, scale, [7, 12])].filter(Boolean);
}

/** The middle half of a reference and, as a stroke, its median. */
function bandOf(kind, { q25, median, q75 }, scale, [y, height]) {
  const width = `${Math.max(parseFloat(across(scale, q75)) - parseFloat(across(scale, q25)), 0.4)}%`;
  const middle = across(scale, median);
  return svg("g", { class: `band ${kind}` }, svg("rect", { x: across(scale, q25), y, width, height, rx: 1 }), svg("line", { x1: middle, x2: middle, y1: y, y2: y + height }));
}

function modelMarks(measure, scale) {
  return profileView.models.filter((model) => isNumber(measure.references[model.id]?.median)).map((model) => atPlace(across(scale, measure.references[model.id].median), PROFILE_ROW.models, modelShape(model)));
}

/** A drawing around its own 0, 0 put where x may be in per cent. */
function atPlace(x, y, drawing) {
  return svg("svg", { x, y, width: 1, height: 1, overflow: "visible" }, drawing);
}

function modelShape(model) {
  return svg("path", { class: "model", d: model.shape });
}

function profilePoint([value, lo, hi], scale) {
  if (!isNumber(value)) return [];
  const y = PROFILE_ROW.middle;
  const line = isNumber(lo) && isNumber(hi) ? svg("line", { class: "reach", x1: across(scale, lo), x2: across(scale, hi), y1: y, y2: y }) : null;
  return [line, svg("circle", { class: "point", cx: across(scale, value), cy: y, r: 5 })].filter(Boolean);
}

function profileLegend(overview, models) {
  const sample = (...drawing) => svg("svg", { width: 26, height: 18, "aria-hidden": "true" }, ...drawing);
  const band = (kind) => sample(svg("g", { class: `band ${kind}` }, svg("rect", { x: 2, y: kind === "high" ? 1 : 4, width: 22, height: kind === "high" ? 16 : 10, rx: 1 }), svg("line", { x1: 12, x2: 12, y1: kind === "high" ? 1 : 4, y2: kind === "high" ? 17 : 14 })));
  const items = [el("li", {}, sample(svg("line", { class: "reach", x1: 2, x2: 24, y1: 9, y2: 9 }), svg("circle", { class: "point", cx: 13, cy: 9, r: 5 })), "chosen here, with its interval")];
  for (const reference of overview.references.filter((r) => r.kind === "human")) {
    items.push(el("li", {}, band(reference.id === "human_high" ? "high" : "low"), `${reference.label}: middle half, median`));
  }
  for (const model of models) items.push(el("li", {}, sample(svg("g", { transform: "translate(13 9)" }, modelShape(model))), `${model.label}: median`));
  return el("ul", { class: "profile-legend small", "aria-label": "What the marks are" }, ...items);
}

/** All the references as numbers: the picture for those who do not see it, and for those who want to cite it. */
function referenceNumbers(overview, measures) {
  if (!overview.references.length) return null;
  const heads = overview.references.map((r) => el("th", { scope: "col" }, r.label));
  const cell = (measure, { id }) => {
    const r = measure.references[id];
    return el("td", { class: "num" }, r ? `${quantity(r.median, measure.unit)} (${interval(r.q25, r.q75, measure.unit)}), n = ${r.n}` : undefinedMark());
  };
  const rows = measures.map(({ measure }) => el("tr", {}, el("th", { scope: "row" }, measure.label), ...overview.references.map((r) => cell(measure, r))));
  const table = el("table", { class: "plain" }, el("caption", { class: "small" }, "Median (middle half), n: sessions"), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Behaviour"), ...heads)), el("tbody", {}, ...rows));
  return disclosure("The references as numbers", scrollRegion("Table of the references; it scrolls", table));
}
