// The table of sessions, what it is filtered by, which columns it has, and the groups.

/** What the table of sessions was last; main.js asks for its order, so that "next" means the next row. */
let sessionsView = null;

/** The positions of the sessions in the order of the table, those filtered away left out. */
function overviewOrder(overview) {
  return sessionsView === null ? overview.sessions.map((_, i) => i) : keptRows(sessionsView.table);
}

function renderSessions(overview) {
  const table = newTable("Sessions", overview.sessions.map((session, i) => ({ ...session, index: i })));
  const shown = new Set([...overview.measures.filter((m) => m.shown), ...overview.about.slice(0, 2)].map((column) => column.name));
  const view = { overview, table, shown, status: el("p", { class: "status" }) };
  view.scales = overview.measures.map((measure, k) => measureScale(measure, overview.sessions.map((s) => s.values[k])));
  sessionsView = view;
  showColumns(table, sessionColumns(view));
  const tools = el("div", { class: "table-tools" }, view.status, wideFold("Filter", filterControls(view)), columnMenu(view), downloadButton(view));
  tellShown(view, overview.sessions.length);
  return el("section", { "aria-labelledby": "sessions" }, part("sessions"), tools, barLegend(overview),
    scrollRegion("Table of sessions; it scrolls", table.node), table.more, nothingNote());
}

function nothingNote() {
  return el("p", { class: "quiet small" }, `${NOTHING} stands where a value is not defined, for example a share of no turns. It is not 0. `,
    "An interval says where the rate would lie if the same two people had gone on talking in the same way; where its line has no end cap, it goes on beyond the picture. The tagger’s own errors come on top.");
}

/** The scale of a measure's bars: its own range, or as far as the values (not their intervals) and the references go. */
function measureScale(measure, values) {
  if (isNumber(measure.high) && isNumber(measure.low)) return { low: measure.low, high: measure.high };
  const references = Object.values(measure.references).flatMap((r) => [r.q05, r.q95]);
  const seen = [...values.map((v) => v[0]), ...references].filter(isNumber);
  const low = isNumber(measure.low) ? measure.low : Math.min(0, ...seen);
  return { low, high: isNumber(measure.high) ? measure.high : Math.max(low + 1e-6, 0, ...seen) };
}

function sessionColumns(view) {
  const { overview } = view;
  const text = (key, label, value) => ({ key, label, value, cell: (row) => value(row) || undefinedMark("not given") });
  const whole = (key, label, value) => ({ key, label, numeric: true, value, cell: (row) => number(value(row)) });
  const measures = overview.measures.map((measure, k) => measureColumn(measure, k, view.scales[k]));
  return [
    { key: "session_id", label: "session", value: (row) => row.id, cell: sessionCell },
    ...overview.about.filter((a) => view.shown.has(a.name)).map((a) => text(`about ${a.name}`, a.label, (row) => row.about[a.name] ?? "")),
    whole("turns", "turns", (row) => row.n_turns),
    whole("n_words", "words", (row) => row.n_words),
    ...measures.filter((column) => view.shown.has(column.measure.name)),
  ];
}

function sessionCell(row) {
  const name = row.view ? el("a", { href: sessionHref(row.id), "data-session": row.index }, row.id) : row.id;
  const note = row.notes.length ? el("a", { class: "note", href: "#unread", "aria-label": `${counted(row.notes.length, "note")} on ${row.id}` }, counted(row.notes.length, "note")) : null;
  return [name, note];
}

function measureColumn(measure, k, scale) {
  return { key: measure.name, label: measure.label, numeric: true, measure, value: (row) => row.values[k][0], cell: (row) => measureCell(measure, row.values[k], scale) };
}

/** The number, its interval, and both as a small picture over the middle half of people's skilled sessions. */
function measureCell(measure, [value, lo, hi], scale) {
  if (!isNumber(value)) return undefinedMark();
  const range = interval(lo, hi, measure.unit);
  const high = measure.references.human_high;
  const reference = high ? [high.q25, high.q75] : null;
  return el("div", { class: "cell" }, el("span", {}, el("b", {}, quantity(value, measure.unit)), range ? el("span", { class: "ci" }, ` ${range}`) : null),
    barWithInterval(value, lo, hi, { ...scale, reference, width: 128 }));
}

function undefinedMark(words = "not defined") {
  return [el("span", { "aria-hidden": "true" }, NOTHING), el("span", { class: "unseen" }, words)];
}

/** What the small pictures show: in words, with one of them. */
function barLegend(overview) {
  const band = overview.measures.some((m) => m.references.human_high);
  const label = "Example of a bar with its interval";
  return el("p", { class: "legend" }, barWithInterval(0.45, 0.27, 0.64, { reference: band ? [0.35, 0.58] : null, label, width: 64 }),
    el("span", {}, "Bar: value. Line: 95% interval. ", band ? "Green: middle half of skilled people’s sessions." : ""));
}

// Filters

function filterControls(view) {
  const { overview } = view;
  const controls = el("form", { class: "controls", role: "search", "aria-label": "Filter the sessions", onsubmit: (event) => event.preventDefault() });
  const words = el("input", { type: "search", id: "filter-words", autocomplete: "off" });
  const selects = overview.about.map((a) => [a.name, aboutSelect(overview, a)]);
  const bound = boundControls(overview);
  view.controls = { words, selects, bound };
  const apply = () => applyFilters(view);
  controls.addEventListener("input", apply);
  controls.addEventListener("reset", () => setTimeout(apply));
  controls.append(field("Find in names", words), ...selects.map(([name, select]) => field(sentence(overview.about.find((a) => a.name === name).label), select)), bound.node, el("button", { type: "reset" }, "Show all"));
  return controls;
}

function field(label, control) {
  return el("span", { class: "field" }, el("label", { for: control.id }, label), control);
}

function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function aboutSelect(overview, { name }) {
  const values = [...new Set(overview.sessions.map((s) => s.about[name] ?? ""))].sort(collator.compare);
  return el("select", { id: `filter-about-${name}` }, el("option", { value: "any" }, "any"), ...values.map((value) => el("option", { value: `=${value}` }, value || "(not given)")));
}

/** "Reflects" "at least" "40" %: one condition on a number. */
function boundControls(overview) {
  const measure = el("select", { id: "filter-measure" }, el("option", { value: "" }, "any value"), ...measureOptions(overview));
  const side = el("select", { id: "filter-side", "aria-label": "at least or at most" }, el("option", { value: "least" }, "at least"), el("option", { value: "most" }, "at most"));
  const amount = el("input", { id: "filter-amount", type: "number", step: "any", inputmode: "decimal", "aria-label": "Value of the condition" });
  const unit = el("span", { class: "unit quiet small" });
  const tellUnit = () => { unit.textContent = unitOf(overview.measures[Number(measure.value)], measure.value); };
  measure.addEventListener("change", tellUnit);
  const node = el("fieldset", { class: "field" }, el("legend", {}, "Number"), el("span", { class: "bound" }, labelled("Measure", measure), side, amount, unit));
  return { node, measure, side, amount, tellUnit };
}

function labelled(name, control) {
  control.setAttribute("aria-label", name);
  return control;
}

function unitOf(measure, chosen) {
  if (chosen === "") return "";
  return IN_PERCENT.has(measure.unit) ? "%" : measure.unit;
}

function measureOptions(overview) {
  const families = groupBy(overview.measures.map((measure, k) => ({ measure, k })), ({ measure }) => measure.family);
  return [...families].map(([family, list]) => el("optgroup", { label: family }, ...list.map(({ measure, k }) => el("option", { value: k }, measure.label))));
}

/** A Map from what `key` gives to the items, in the order of their first. */
function groupBy(items, key) {
  const found = new Map();
  for (const item of items) {
    const name = key(item);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(item);
  }
  return found;
}

function applyFilters(view) {
  view.controls.bound.tellUnit();
  const checks = [wordsCheck(view), ...view.controls.selects.map(([name, select]) => aboutCheck(name, select.value)), boundCheck(view)].filter(Boolean);
  const n = filterTable(view.table, (row) => checks.every((check) => check(row)));
  tellShown(view, n);
  announce(view.status.textContent);
}

function wordsCheck({ controls, overview }) {
  const wanted = controls.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return null;
  return (row) => {
    const text = [row.id, ...overview.about.map((a) => row.about[a.name] ?? "")].join(" ").toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}

function aboutCheck(name, chosen) {
  return chosen === "any" ? null : (row) => `=${row.about[name] ?? ""}` === chosen;
}

/** null where no condition was given. A value that is not defined meets none. */
function boundCheck({ controls, overview }) {
  const { measure, side, amount } = controls.bound;
  if (measure.value === "" || amount.value === "" || !isNumber(amount.valueAsNumber)) return null;
  const k = Number(measure.value);
  const [wanted, scale] = [amount.valueAsNumber, IN_PERCENT.has(overview.measures[k].unit) ? 100 : 1];
  // Against the value as it is shown: what reads 40% is "at least 40", though it be 39.7.
  const seen = (x) => (scale === 100 && Number.isInteger(wanted) ? Math.round(x * 100) : x * scale);
  const meets = side.value === "least" ? (x) => seen(x) >= wanted - 1e-9 : (x) => seen(x) <= wanted + 1e-9;
  return ({ values }) => isNumber(values[k][0]) && meets(values[k][0]);
}

function tellShown(view, n) {
  const total = view.overview.sessions.length;
  view.status.textContent = n === total ? `All ${counted(total, "session")}.` : `${n} of ${counted(total, "session")}.`;
  if (total === 1) view.status.textContent = "1 session.";
  if (n === 0) view.status.textContent = `None of the ${counted(total, "session")} is like that; “Show all” brings them back.`;
}

// Columns and download

function columnMenu(view) {
  const families = [...groupBy(view.overview.measures, (measure) => measure.family)];
  if (view.overview.about.length) families.unshift(["About the session", view.overview.about]);
  const sets = families.map(([family, list]) => el("fieldset", {}, el("legend", {}, family), ...list.map((column) => columnBox(view, column))));
  return wideFold("Choose columns", el("div", { class: "menu" }, ...sets));
}

/** A fold among the tools of the table, which takes the whole width when it is open. */
function wideFold(summary, ...children) {
  const fold = disclosure(summary, ...children);
  fold.classList.add("columns");
  return fold;
}

function columnBox(view, { name, label }) {
  const box = el("input", { type: "checkbox", checked: view.shown.has(name), "data-column": name });
  box.addEventListener("change", () => {
    if (box.checked) view.shown.add(name);
    else view.shown.delete(name);
    showColumns(view.table, sessionColumns(view));
    view.onColumns?.();
    announce(`${label}: ${box.checked ? "shown" : "hidden"}.`);
  });
  return el("label", { class: "check" }, box, sentence(label));
}

function downloadButton(view) {
  const save = () => download("sessions_shown.csv", csvText(shownAsRows(view)));
  return el("button", { type: "button", id: "download-table", onclick: save }, "Download this table (CSV)");
}

/** The rows and columns that are shown, with intervals and counts, as fractions of 1 as in sessions.csv. */
function shownAsRows({ overview, shown, table }) {
  const measures = overview.measures.map((measure, k) => ({ name: measure.name, k })).filter(({ name }) => shown.has(name));
  const names = measures.flatMap(({ name }) => [name, `${name}_lo`, `${name}_hi`, `${name}_n`, `${name}_of`]);
  const header = ["session_id", ...overview.about.map((a) => a.name), "n_turns", "n_words", ...names];
  const rows = keptRows(table).map((i) => overview.sessions[i]);
  return [header, ...rows.map((s) => [s.id, ...overview.about.map((a) => s.about[a.name]), s.n_turns, s.n_words, ...measures.flatMap(({ k }) => s.values[k])])];
}

// Groups

function renderGroups(overview) {
  const names = overview.about.filter((a) => overview.groups[a.name]?.length);
  const section = el("section", { "aria-labelledby": "groups" }, part("groups"));
  if (!names.length) {
    section.append(el("p", {}, "The sessions are in no groups: no counselor, source or other column divides them."));
    return section;
  }
  const place = el("div");
  const chooser = el("select", { id: "group-by" }, ...names.map((a) => el("option", { value: a.name }, a.label)));
  const unit = () => overview.units[chooser.value];
  const note = () => el("p", { class: "quiet small" }, `Each ${unit()} counts once. A group of one ${unit()} has no interval. Groups also differ in their clients and in what these bring; `, el("code", {}, "tanalyze compare"), " tests differences.");
  const draw = () => place.replaceChildren(groupsTable(overview, chooser.value), note());
  chooser.addEventListener("change", () => { draw(); announce(`Groups by ${chooser.selectedOptions[0].textContent}.`); });
  sessionsView.onColumns = draw;
  draw();
  section.append(el("p", {}, "The mean of each group with its 95% interval, for the columns chosen above."),
    el("div", { class: "controls" }, field("Group by", chooser)), place);
  return section;
}

function groupsTable(overview, name) {
  const label = overview.about.find((a) => a.name === name).label;
  const table = newTable(`Groups by ${label}`, overview.groups[name]);
  const measures = overview.measures.map((measure, k) => measureColumn(measure, k, sessionsView.scales[k]));
  showColumns(table, [
    { key: "name", label, value: (row) => row.name, cell: (row) => el("a", { href: "#profile", onclick: () => chooseProfile(`group ${name} ${row.name}`) }, row.name || "(not given)") },
    { key: "n_sessions", label: "sessions", numeric: true, value: (row) => row.n_sessions, cell: (row) => number(row.n_sessions) },
    ...measures.filter((column) => sessionsView.shown.has(column.measure.name)),
  ]);
  return el("div", {}, scrollRegion(`Table of groups by ${label}; it scrolls`, table.node), table.more);
}

