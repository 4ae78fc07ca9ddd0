// The supervision sheet: one printed page for a session or a counselor, for supervisor and supervisee alike. What is in
// it was chosen by report/moments.py and report/sheet.py; here it is only put on paper.

const SHEET_TURNS = 3;
/** Longer turns are cut, so that the sheet stays one page. Characters. */
const SHEET_WORDS = 200;
const SHEET_LINES = 16;
/** What is known of a session besides its length, as far as the sheet has space. */
const SHEET_FACTS = ["counselor", "client", "date", "session_number"];
const SHEET_SIDES = { look: "Worth another look", build: "Worth building on" };

/** The address of a sheet: #sheet/session/ID or #sheet/counselor/NAME. */
function sheetHref(kind, name) {
  return `#sheet/${kind}/${encodeURIComponent(name)}`;
}

/** What an address names: {view: "sheet", kind, index}, or null where there is no such session or counselor. */
function sheetAddress(kind, name, overview) {
  const found = kind === "session" ? overview.sessions.findIndex((one) => one.id === name && one.view)
    : kind === "counselor" ? overview.sheet.counselors.findIndex((one) => one.name === name) : -1;
  return found < 0 ? null : { view: "sheet", kind, index: found };
}

/** The way to a counselor's sheet, where there is one. */
function sheetLink(overview, name) {
  if (sheetAddress("counselor", name, overview) === null) return null;
  return el("a", { href: sheetHref("counselor", name) }, `Supervision sheet of ${name}`);
}

/** Where the reader may go from a sheet. */
function sheetLinks(overview, { kind, index }) {
  const { id } = overview.sessions[index] ?? {};
  return [["All sessions", "#overview"], ...(kind === "session" ? [[`Session ${id}`, sessionHref(id)]] : [])];
}

function renderSheet(root, overview, { kind, index }) {
  const sheet = kind === "session" ? sheetOfSession(overview, index) : sheetOfPerson(overview, index);
  const print = el("button", { type: "button", class: "main-button", onclick: () => globalThis.print() }, "Print this sheet");
  root.replaceChildren(el("div", { class: "sheet-tools" }, print, el("span", { class: "quiet small" }, "One page, upright.")), sheetPage(overview, sheet));
}

/** {title, facts, numbers, values, moments: [{id, index, data, ...}], changed} */
function sheetOfSession(overview, index) {
  const session = overview.sessions[index];
  const data = readData(`session-${index}`);
  const about = SHEET_FACTS.filter((name) => session.about?.[name]).map((name) => `${sessionCapital(name.replaceAll("_", " "))}: ${session.about[name]}`);
  return {
    title: `Session ${session.id}`, facts: [...about, counted(session.n_turns ?? 0, "turn"), counted(session.n_words ?? 0, "word")],
    numbers: "The session in numbers", values: stripValues(overview, index), changed: data.changed,
    moments: data.moments.slice(0, SHEET_TURNS).map((one) => ({ ...one, session: index })), blocks: new Map([[index, data]]), several: false,
  };
}

function sheetOfPerson(overview, index) {
  const one = overview.sheet.counselors[index];
  const blocks = new Map(one.moments.map(({ session }) => [session, null]));
  for (const session of blocks.keys()) blocks.set(session, readData(`session-${session}`));
  return {
    title: one.name, facts: [counted(one.n_sessions, "session")], several: true, changed: one.changed, moments: one.moments, blocks,
    numbers: `${counted(one.n_sessions, "session")} in numbers: means, each ${one.unit} counting once, with their 95% intervals`,
    values: one.values.map(([mean, lo, hi]) => [mean, lo, hi, null, null]),
  };
}

function sheetPage(overview, sheet) {
  const lines = Array.from({ length: SHEET_LINES }, () => el("div", { class: "sheet-line" }));
  const count = { 0: "No turn", 1: "One turn", 2: "Two turns", 3: "Three turns" }[sheet.moments.length];
  return el("article", { class: "sheet", "aria-labelledby": "sheet-title" },
    el("header", { class: "sheet-head" }, el("p", { class: "quiet small" }, "Supervision sheet"), el("h2", { id: "sheet-title", tabindex: -1 }, sheet.title),
      el("p", { class: "small" }, sheet.facts.join(" · "))),
    el("p", { class: "sheet-purpose" }, "For supervisee and supervisor alike. The numbers say where to look, not how good the talk was: they are a machine’s counts, and some are wrong. To be unlike skilled people’s sessions is not to be worse."),
    el("h3", {}, sheet.numbers), stripDraw(overview, sheet.values, "Numbers"), stripLegend(overview),
    el("h3", {}, `${count} worth discussing`),
    sheet.moments.length ? el("ol", { class: "sheet-turns" }, sheet.moments.map((one) => sheetTurn(overview, sheet, one))) : el("p", { class: "small" }, "None of the rules below found a turn here. That is no finding about the session."),
    el("h3", {}, "Since last time"), el("p", { class: "small" }, sheet.changed),
    el("h3", {}, "Notes"), el("div", { class: "sheet-notes", "aria-hidden": "true" }, lines),
    el("footer", { class: "sheet-how" }, overview.sheet.how.join(" "), ` Coded by the ${overview.tagger.replace(/^the /, "")}.`));
}

function sheetTurn(overview, sheet, { rule, steps, session }) {
  const { side, title, question, steps: does } = overview.sheet.rules[rule];
  const { id } = overview.sessions[session];
  const data = sheet.blocks.get(session);
  const first = steps[0][0];
  const link = el("a", { href: sessionHref(id, first) }, sheet.several ? `${id}, turn ${first}` : `Turn ${first}`);
  return el("li", { class: `sheet-${side}` },
    el("p", {}, el("strong", {}, title), " ", el("span", { class: "sheet-side" }, SHEET_SIDES[side]), " ", el("span", { class: "sheet-where" }, link)),
    el("div", { class: "sheet-steps" }, steps.map(([turn, p], at) => sheetStep(data, turn, sheetWhy(does[at], p))), sheetAnswer(data, steps)),
    el("p", { class: "sheet-question" }, question));
}

/** "the client shows a negative feeling (probability 70%)" */
function sheetWhy({ role, does }, p) {
  return `the ${role} ${does}${p === null ? "" : ` (probability ${turnPercent(p)})`}`;
}

/** A turn: why it is here, and what was said, where the page holds it. */
function sheetStep(data, turn, why) {
  const said = data.text ? `: ${sheetCut(data.text[turn])}` : ".";
  return el("p", { class: `role-${data.role[turn]}` }, el("span", { class: "quiet" }, `Turn ${turn}, ${why}`), said);
}

/** What came after a turn that is here for itself, where the page holds the words. */
function sheetAnswer(data, steps) {
  const next = steps[0][0] + 1;
  if (!data.text || steps.length > 1 || next >= data.text.length) return null;
  return sheetStep(data, next, `the ${SESSION_ROLES[data.role[next]] ?? SESSION_ROLES.o}`);
}

function sheetCut(text) {
  const plain = text.replaceAll(/\s+/g, " ").trim();
  if (plain.length <= SHEET_WORDS) return plain;
  return `${plain.slice(0, SHEET_WORDS).replace(/\s+\S*$/, "")} …`;
}
