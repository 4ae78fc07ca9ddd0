// One session: its head with the strip of numbers, the timeline, the turn that was picked, the transcript or the list of
// turns beside them, and its tables.

/** A longer turn is cut, with a button that shows all of it. Characters. */
const SESSION_LONG = 500;
const SESSION_ROLES = { t: "therapist", c: "client", o: "other speaker" };
/** What is shown now, so that another turn of the same session need not draw it anew. */
let sessionView = null;

/** Show a session in `root`, and a turn of it if one is given. */
function renderSession(root, overview, index, turn) {
  if (sessionView?.index !== index || !root.contains(sessionView.node)) sessionOpen(root, overview, index);
  const there = turn !== null && turn !== undefined && turn < sessionView.model.n;
  if (there) sessionPick(turn, "address");
  else if (sessionView.turn === null && sessionView.model.n) turnShow(sessionView.panel, sessionView.model, null, sessionPick);
}

function sessionOpen(root, overview, index) {
  const data = readData(`session-${index}`);
  const model = sessionModel(overview, data);
  const panel = el("section", { class: "turn-panel", "aria-labelledby": "turn-title" });
  sessionView = { index, model, panel, turn: null };
  sessionView.timeline = timelineDraw(model, sessionPick);
  sessionView.list = sessionList(model);
  const lane = el("section", { class: "session-lane", "aria-labelledby": "timeline-title" }, el("h3", { id: "timeline-title" }, "Timeline"), sessionView.timeline.node);
  const desk = el("div", { class: "session-desk" }, lane, panel, sessionView.list);
  sessionView.node = el("div", { class: "session" }, sessionHead(overview, model, index), desk, sessionTables(overview, model, index));
  root.replaceChildren(sessionView.node);
  turnShow(panel, model, null, sessionPick);
}

/** Pick a turn: everything that shows turns follows. `from` is where the reader did it. */
function sessionPick(turn, from = "") {
  const view = sessionView;
  sessionMarkRow(view.turn, false);
  view.turn = turn;
  view.timeline.select(turn);
  turnShow(view.panel, view.model, turn, sessionPick);
  sessionMarkRow(turn, true);
  sessionFollow(view, turn);
  if (from !== "list") sessionShowRow(turn);
  sessionReveal(from);
}

/** The address follows, without a step in the history, when the reader rests: browsers refuse many changes a second. */
function sessionFollow(view, turn) {
  clearTimeout(view.following);
  view.following = setTimeout(() => {
    const [session, href] = [sessionHref(view.model.id), sessionHref(view.model.id, turn)];
    const here = location.hash === session || location.hash.startsWith(`${session}/`);
    if (here && view === sessionView && location.hash !== href) history.replaceState(null, "", href);
  }, 200);
}

/** Where the panel is not beside the timeline and the transcript but between them, bring its head into sight. */
function sessionReveal(from) {
  if (!matchMedia("(max-width: 60rem)").matches) return;
  const title = document.getElementById("turn-title");
  title.scrollIntoView({ block: from === "list" ? "start" : "nearest", behavior: "instant" });
  if (from === "list") title.focus({ preventScroll: true });
}

/* ---- The session as the views ask for it ---- */

/** What is known of a session, with quick answers to: does turn i have this code, how probable, is it unsure. */
function sessionModel(overview, data) {
  const sets = (lists) => new Map(Object.entries(lists ?? {}).map(([code, turns]) => [code, new Set(turns)]));
  const [on, unsure] = [sets(data.on), sets(data.unsure)];
  const marks = new Map();
  for (const mark of data.marks ?? []) for (const turn of mark.turns) marks.set(turn, [...(marks.get(turn) ?? []), mark]);
  const { codes } = overview;
  const ofRole = Object.fromEntries(Object.keys(SESSION_ROLES).map((letter) => [letter, codes.filter((code) => code.role === "" || code.role[0] === letter)]));
  const nOf = {};
  for (const letter of data.role) nOf[letter] = (nOf[letter] ?? 0) + 1;
  const labels = codes.map((code) => code.label);
  return {
    overview, data, codes, nOf, id: data.id, n: data.role.length, roles: data.role,
    twins: new Set(labels.filter((label, at) => labels.indexOf(label) !== at)),
    on: (turn, code) => on.get(code)?.has(turn) ?? false, unsure: (turn, code) => unsure.get(code)?.has(turn) ?? false,
    p: (turn, code) => data.p?.[code]?.[turn] ?? null,
    codesOf: (letter) => ofRole[letter] ?? [], marksAt: (turn) => marks.get(turn) ?? [],
  };
}

const sessionRole = (model, turn) => SESSION_ROLES[model.roles[turn]] ?? SESSION_ROLES.o;
const sessionCapital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** "31 words", where words can be counted. */
const sessionWords = ({ data }, turn) => (isNumber(data.n_words[turn]) ? counted(data.n_words[turn], "word") : "words not counted");

/** "turn 12, client, 31 words: change, negative feeling (unsure)" */
function sessionSpoken(model, turn) {
  const codes = sessionMarginCodes(model, turn).map((code) => code.label.toLowerCase() + (model.unsure(turn, code.column) ? " (unsure)" : ""));
  const has = [...codes, ...model.marksAt(turn).map((mark) => `${mark.also ? "marked" : "to review"}: ${mark.label}`)];
  return `turn ${turn}, ${sessionRole(model, turn)}, ${sessionWords(model, turn)}: ${has.join(", ") || "no code"}`;
}

/**
 * The codes of a turn for the margin: of a lane (question, reflection...) those of the most particular book, which comes
 * first in the report; the panel of the turn has all.
 */
function sessionMarginCodes(model, turn) {
  const told = new Map();
  return model.codesOf(model.roles[turn]).filter((code) => {
    if (!code.lane || !model.on(turn, code.column)) return false;
    const before = told.get(code.lane);
    const sure = !model.unsure(turn, code.column);
    const keep = before === undefined || before.book === code.short || (!before.sure && sure);
    if (keep) told.set(code.lane, { book: before?.book ?? code.short, sure: before?.sure || sure });
    return keep;
  });
}

/* ---- Head ---- */

function sessionHead(overview, model, index) {
  const session = overview.sessions[index];
  const about = Object.entries(session.about ?? {}).filter(([, value]) => value).map(([name, value]) => [overview.about?.find((one) => one.name === name)?.label ?? name, value]);
  const facts = [...about, ["turns", number(session.n_turns)], ["words", number(session.n_words)]];
  const list = el("dl", { class: "session-facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, sessionCapital(String(name).replaceAll("_", " "))), el("dd", {}, value))));
  const counselor = sheetLink(overview, session.about?.counselor);
  const sheets = el("p", { class: "session-sheets" }, el("a", { class: "main-button", href: sheetHref("session", session.id) }, "Supervision sheet"), counselor ? [" ", counselor] : null);
  const notes = (session.notes ?? []).length ? el("ul", { class: "notice" }, session.notes.map((note) => el("li", {}, note))) : null;
  const title = el("div", { class: "session-title" }, el("h2", { tabindex: "-1" }, `Session ${session.id}`), list, sheets);
  return el("div", { class: "session-head" }, title, stripDraw(overview, stripValues(overview, index), "Numbers of the session"), stripLegend(overview), notes);
}

/* ---- The transcript, or the list of turns ---- */

/** One table for both, so that a screen reader can walk it by row and column. */
function sessionList(model) {
  const quoted = Boolean(model.data.text);
  const names = ["Turn", quoted ? "What was said" : "Words", "Codes"];
  const head = el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, names.map((name) => el("th", { scope: "col", role: "columnheader" }, name))));
  const rows = Array.from({ length: model.n }, (_, turn) => sessionLine(model, turn));
  const table = el("table", { class: quoted ? "turns quoted" : "turns", role: "table", "aria-labelledby": "list-title" }, head, el("tbody", { role: "rowgroup", onkeydown: sessionListKey }, rows));
  const title = el("h3", { id: "list-title" }, quoted ? "Transcript" : "Turns");
  const why = quoted ? null : el("p", { class: "quiet small" }, "This report was made without quotes: it holds no word that was said.");
  const help = el("p", { class: "quiet small" }, "A code with ? is unsure. The margin names the most particular codes; picking a turn shows all.");
  return el("section", { class: "session-list", "aria-labelledby": "list-title" }, title, why, help, el("div", { class: "turns-scroll" }, table));
}

function sessionLine(model, turn) {
  const role = model.roles[turn];
  const pick = (event) => {
    event.preventDefault();
    sessionPick(turn, "list");
  };
  const link = el("a", { href: sessionHref(model.id, turn), class: "turn-link", tabindex: turn === 0 ? 0 : -1, onclick: pick }, String(turn));
  const who = el("span", { class: `who role-${role}` }, model.data.speaker?.[turn] || sessionCapital(sessionRole(model, turn)));
  const said = model.data.text ? sessionSaid(model, turn) : [String(model.data.n_words[turn] ?? "")];
  const codes = el("td", { role: "cell", class: "margin" }, sessionMargin(model, turn));
  const first = el("th", { scope: "row", role: "rowheader" }, link, " ", who);
  const middle = el("td", { role: "cell", class: model.data.text ? "said-cell" : "num-cell" }, said);
  const row = el("tr", { role: "row", class: `line role-${role}`, "data-turn": turn }, first, middle, codes);
  row.addEventListener("click", (event) => {
    // A click that ends a selection of words, or that is meant for a link, picks no turn.
    if (!event.target.closest("a, button, [role=button]") && String(getSelection()) === "") sessionPick(turn, "list");
  });
  return row;
}

/** What was said in a turn; a long one is cut until the reader opens it. */
function sessionSaid(model, turn) {
  const text = model.data.text[turn];
  const words = el("span", { class: "said-words" }, text);
  if (text.length <= SESSION_LONG) return [words];
  words.classList.add("cut");
  const button = el("button", { type: "button", class: "link said-all", "aria-expanded": "false", onclick: () => {
    const cut = words.classList.toggle("cut");
    button.setAttribute("aria-expanded", String(!cut));
    button.textContent = sessionSaidAll(model, turn, cut);
  } }, sessionSaidAll(model, turn, true));
  return [words, button];
}

function sessionSaidAll(model, turn, cut) {
  return cut ? isNumber(model.data.n_words[turn]) ? `Show all ${sessionWords(model, turn)}` : "Show all" : "Show less";
}

function sessionMargin(model, turn) {
  const chips = sessionMarginCodes(model, turn).map((code) => {
    const unsure = model.unsure(turn, code.column);
    return el("span", { class: unsure ? "chip chip-unsure" : "chip" }, code.label + (unsure ? " ?" : ""));
  });
  const marks = model.marksAt(turn).map((mark) => {
    const { danger } = mark;
    return el("span", { class: `chip chip-mark${danger ? " danger" : ""}` }, danger ? "▲ " : "◇ ", mark.label);
  });
  // Spaces between, so that words do not run together when copied or read aloud.
  return [...chips, ...marks].flatMap((chip) => [chip, " "]);
}

const sessionRow = (turn) => sessionView.list.querySelector("tbody").rows[turn];

/** The picked turn is marked, and is the one that the tab key reaches. */
function sessionMarkRow(turn, picked) {
  if (picked) for (const link of sessionView.list.querySelectorAll('.turn-link[tabindex="0"]')) link.tabIndex = -1;
  if (turn === null) return;
  const row = sessionRow(turn);
  row.classList.toggle("picked", picked);
  const link = row.querySelector(".turn-link");
  if (picked) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  if (picked) link.tabIndex = 0;
}

/** The last turn before of the client; of a turn of the client, the last turn before of anybody. -1 where there is none. */
function sessionBefore(model, turn) {
  return model.roles[turn] === "c" ? turn - 1 : model.roles.lastIndexOf("c", turn - 1);
}

/** Scroll the transcript, and it alone, so that a turn is in sight and, where both fit, the client's turn before it. */
function sessionShowRow(turn) {
  const scroller = sessionView.list.querySelector(".turns-scroll");
  const frame = scroller.getBoundingClientRect();
  const top = frame.top + sessionView.list.querySelector("thead").getBoundingClientRect().height;
  const bottom = Math.min(frame.bottom, innerHeight);
  const row = sessionRow(turn).getBoundingClientRect();
  // The client's last turn before, also of a turn of the client: what it answers stands between the two.
  const client = sessionView.model.roles.lastIndexOf("c", turn - 1);
  const before = turn > 0 && client >= 0 ? sessionRow(client).getBoundingClientRect() : row;
  const first = row.bottom - before.top <= bottom - top ? before : row;
  if (first.top < top || row.bottom > bottom) scroller.scrollTop += first.top - top;
}

/** Up and down walk through the turns; the link itself picks one. */
function sessionListKey(event) {
  if (!event.target.matches(".turn-link")) return;
  const now = Number(event.target.closest("tr").dataset.turn);
  const last = sessionView.model.n - 1;
  const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: last, PageDown: now + 10, PageUp: now - 10 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const link = sessionRow(Math.min(Math.max(to, 0), last)).querySelector(".turn-link");
  event.target.tabIndex = -1;
  link.tabIndex = 0;
  link.focus({ preventScroll: true });
  sessionShowRow(Number(link.closest("tr").dataset.turn));
}

/* ---- The numbers of the session ---- */

function sessionTables(overview, model, index) {
  const parts = [
    ["The session's measures", sessionMeasures(overview, index)], ["Behaviour by thirds of the session", sessionThirds(model)],
    ["What the therapist does next", sessionResponses(model)], ["Synchrony, beside shuffled turns and surrogate pairs", sessionSynchrony(model)],
  ];
  const shown = parts.filter(([, body]) => body !== null).map(([title, body]) => el("details", { class: "session-part" }, el("summary", {}, el("h3", {}, title)), body));
  return el("div", { class: "session-tables" }, shown);
}

function sessionTable(caption, heads, rows) {
  const cell = (one) => el("th", { scope: "col", class: one.startsWith("#") ? "num" : null }, one.replace(/^#/, ""));
  const head = el("thead", {}, el("tr", {}, heads.map(cell)));
  // The caption stands outside: in the table it would be as wide, and scroll away.
  const table = el("table", { "aria-label": caption }, head, el("tbody", {}, rows));
  return el("div", {}, el("p", { class: "quiet small" }, caption), scrollRegion(`${caption.split(/[.:;]/)[0]} (table)`, table));
}

/** Measures that the overview shows, and those of the profile, beside the references. */
function sessionMeasures(overview, index) {
  const values = overview.sessions[index].values;
  const references = (overview.references ?? []).filter((one) => overview.measures.some((measure) => measure.references?.[one.id]));
  const kept = overview.measures.map((measure, at) => ({ measure, value: values[at] })).filter(({ measure, value }) => (measure.shown || measure.profile) && value && isNumber(value[0]));
  if (!kept.length) return null;
  const people = references.filter((one) => one.kind !== "llm");
  const models = references.filter((one) => one.kind === "llm");
  const last = models.length ? ["Language models, lowest to highest mean"] : [];
  const heads = ["Measure", "#This session", "95% interval", "#Turns", "Picture", ...people.map((one) => one.label), ...last];
  const caption = references.length ? "Of people: the mean and, in brackets, the middle half of their sessions; the band in the picture is that of the first column. The overview has each language model for itself." : "Values with their interval.";
  return sessionTable(caption, heads, kept.map(({ measure, value }) => sessionMeasure(measure, value, people, models)));
}

function sessionMeasure(measure, [value, lo, hi, n, of], people, models) {
  const reference = (one) => measure.references?.[one.id];
  const first = people.length ? reference(people[0]) : null;
  const scale = { low: measure.low ?? Math.min(0, value), high: measure.high ?? Math.max(value, hi ?? 0, first?.q95 ?? 0, 1e-9) };
  const bar = barWithInterval(value, lo, hi, { ...scale, reference: first ? [first.q25, first.q75] : null });
  const unit = measure.unit;
  const ofPeople = people.map(reference).map((one) => el("td", {}, one ? [quantity(one.mean, unit), el("span", { class: "quiet" }, ` (${interval(one.q25, one.q75, unit)})`)] : NOTHING));
  const means = models.map(reference).map((one) => one?.mean).filter(isNumber);
  const ofModels = models.length ? el("td", {}, means.length ? interval(Math.min(...means), Math.max(...means), unit) : NOTHING) : null;
  const turns = isNumber(n) && isNumber(of) ? `${n} of ${of}` : "";
  return el("tr", {}, el("th", { scope: "row" }, measure.label, meaningButton(measure)), el("td", { class: "num" }, quantity(value, unit)),
    el("td", {}, interval(lo, hi, unit)), el("td", { class: "num" }, turns), el("td", {}, bar), ofPeople, ofModels);
}

/** The rows of a packed table as objects. */
function unpacked({ columns, rows }) {
  return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
}

function sessionThirds(model) {
  const parts = ["whole", "third_1", "third_2", "third_3"];
  const cells = new Map(unpacked(model.data.profile).map((one) => [`${one.code} ${one.part}`, one]));
  const codes = model.codes.filter((code) => (cells.get(`${code.column} whole`)?.n ?? 0) > 0);
  if (!codes.length) return null;
  const heads = ["Code", "Whole session", "First third", "Middle third", "Last third"];
  const caption = "Turns that have the code, of the turns of its speaker in that part; the line on each bar is the 95% interval. Codes that do not occur are left out.";
  const row = (code) => el("tr", {}, el("th", { scope: "row" }, sessionCodeName(model, code)), parts.map((part) => sessionRate(cells.get(`${code.column} ${part}`))));
  return sessionTable(caption, heads, codes.map(row));
}

function sessionCodeName(model, code) {
  return code.label + (model.twins.has(code.label) ? ` (${code.short})` : "");
}

function sessionRate(one) {
  if (!one || !isNumber(one.rate)) return el("td", {}, NOTHING);
  const words = `${one.n} of ${one.n_turns}, ${percent(one.rate)} (${interval(one.lo, one.hi)})`;
  return el("td", {}, barWithInterval(one.rate, one.lo, one.hi, { width: 110 }), el("span", { class: "small" }, words));
}

/** After each client code: how often each answer came, and how often it comes after any client turn. */
function sessionResponses(model) {
  const name = (column) => {
    const code = model.codes.find((one) => one.column === column);
    return code ? sessionCodeName(model, code) : sessionCapital(column.replaceAll("_", " "));
  };
  const rows = unpacked(model.data.responses).filter((one) => one.n_both > 0);
  if (!rows.length) return null;
  const groups = new Map();
  for (const one of rows) groups.set(one.client_code, [...(groups.get(one.client_code) ?? []), one]);
  const heads = ["The therapist's next turn", "#Turns", "Rate", "Picture", "After any client turn"];
  const tables = [...groups].map(([client, answers]) => {
    const sorted = answers.sort((a, b) => b.n_both - a.n_both);
    const caption = `After “${name(client)}” (${counted(sorted[0].n_client, "turn")} answered${sorted[0].n_client < 5 ? "; too few to say much" : ""})`;
    return sessionTable(caption, heads, sorted.map((one) => sessionResponse(one, name)));
  });
  return el("div", { class: "session-responses" }, el("p", { class: "quiet small" }, "A turn may have several codes, so rates of one client code do not add up to 100%. Codes that never followed are left out."), tables);
}

function sessionResponse(one, name) {
  return el("tr", {}, el("th", { scope: "row" }, name(one.therapist_code)), el("td", { class: "num" }, `${one.n_both} of ${one.n_client}`),
    el("td", {}, `${percent(one.rate)} (${interval(one.lo, one.hi)})`), el("td", {}, barWithInterval(one.rate, one.lo, one.hi)),
    el("td", {}, percent(one.base_rate)));
}

function sessionSynchrony(model) {
  const rows = model.data.synchrony ?? [];
  if (!rows.length) return null;
  const heads = ["Measure", "#This session", "#Shuffled turns", "#z", "#p", "#Surrogate pairs", "#SD", "#Above them", "#p"];
  const caption = "Synchrony is not a quality score: it has no agreed sign, and grows with the length of turns. Shuffled turns: the mean where each speaker’s replies are in random order. Surrogate pairs: what is expected of these two when each is paired with speakers of other sessions, how far such an expectation is off (SD), and by how much this session lies above it: sessions and counselors are compared by that alone. z: distance from the mean of the shuffles in standard deviations. p: share of shuffles, or of surrogate pairs, that are at least as synchronous; where order alone makes no difference, one measure in 20 has p below .05.";
  const cell = (value) => el("td", { class: "num" }, number(value));
  return sessionTable(caption, heads, rows.map((one) => el("tr", {}, el("th", { scope: "row" }, one.label), [one.value, one.null_mean, one.z, one.p, one.surrogate_mean, one.surrogate_sd, one.excess, one.surrogate_p].map(cell))));
}
