// The overview: whose sessions these are, the findings, the sessions to look at first, the table, the groups, a profile,
// what could not be read, and what the words mean. renderOverview draws it once; afterwards it is only shown and hidden.

/** The parts, their headings and the shorter names of the links at the top, in the order of the page. */
const OVERVIEW_PARTS = [
  ["standing-out", "Findings"],
  ["look-first", "Sessions to look at first", "Look at first"],
  ["sessions", "Sessions"],
  ["groups", "Groups"],
  ["profile", "Profile"],
  ["unread", "Limits, and what was not read", "Limits"],
  ["words", "What the words mean", "Words"],
];

function overviewParts() {
  return OVERVIEW_PARTS.map(([id, text, short]) => [short ?? text, `#${id}`]);
}

/** Draw the overview into the empty `root`. */
function renderOverview(root, overview) {
  addTo(root, [
    renderIntroduction(overview),
    el("div", { class: "first" }, renderFindings(overview), renderLookFirst(overview)),
    renderSessions(overview),
    renderGroups(overview),
    renderProfile(overview),
    renderUnread(overview),
    renderWords(overview),
  ]);
  document.getElementById("foot").textContent = `Made by ${overview.program}. This file opens no connection to any other address.`;
}

/** The heading of a part, to which links lead. */
function part(id) {
  return el("h2", { id, tabindex: -1 }, OVERVIEW_PARTS.find(([name]) => name === id)[1]);
}

function renderIntroduction(overview) {
  const turns = overview.sessions.reduce((sum, session) => sum + (session.n_turns ?? 0), 0);
  const words = overview.quotes ? "This page holds the transcripts: keep it as you keep those." : "This page holds no words of the sessions.";
  const left = overview.n_left_out ? ` ${counted(overview.n_left_out, "session")} stand in the table without a view of their own, to keep the file small.` : "";
  return el("div", { class: "intro" },
    el("p", { class: "lead" }, `${overview.who}.`),
    el("p", { class: "quiet small" }, `${counted(turns, "turn")}, coded by the ${overview.tagger.replace(/^the /, "")}. Codes are predictions, and some are wrong: read the turns before you judge. `, el("strong", {}, words), left));
}

// Findings: what a test supports

const FINDINGS_AT_FIRST = 5;

function renderFindings(overview) {
  const section = el("section", { "aria-labelledby": "standing-out" }, part("standing-out"));
  const found = overview.findings;
  if (found.length) section.append(...findingGroups(overview, found.slice(0, FINDINGS_AT_FIRST)), el("p", { class: "quiet small" }, "In brackets: 95% interval. To be unlike others is neither better nor worse."));
  else section.append(el("p", {}, overview.n_compared
    ? `None of ${counted(overview.n_compared, "comparison")} shows a significant difference. That does not make them alike: the details say how far apart they would have to lie.`
    : "Nothing was compared. The details say what that takes."));
  section.append(disclosure("Details, and how findings are chosen", ...findingDetails(overview, found)));
  return section;
}

/** Findings under whom they are about, in the order of each one's first. */
function findingGroups(overview, found) {
  return [...groupBy(found, ({ under }) => under.join("\n"))].flatMap(([, list]) => {
    const [by, name] = list[0].under;
    const heading = by === "counselor" ? name || "No counselor named" : `${sentence(by)}: ${name || "not given"}`;
    return [el("h3", {}, heading), el("ul", { class: "findings" }, ...list.map((finding) => findingItem(overview, finding)))];
  });
}

function findingItem(overview, finding) {
  const measure = overview.measures.find((m) => m.name === finding.measure);
  return el("li", {}, finding.line.replace(/p ([=<]) /, "p\u00a0$1\u00a0"), " ", el("span", { class: "links" }, findingLink(overview, finding), measure ? meaningButton(measure) : null));
}

function findingLink(overview, { session, under }) {
  const one = session === null ? null : overview.sessions[session];
  if (one?.view) return el("a", { href: sessionHref(one.id), "aria-label": `Open ${one.id}` }, "Open");
  const key = one ? `session ${session}` : `group ${under[0]} ${under[1]}`;
  return el("a", { href: "#profile", "aria-label": `Profile of ${one?.id ?? under[1]}`, onclick: () => chooseProfile(key) }, "Profile");
}

function findingDetails(overview, found) {
  const rest = found.slice(FINDINGS_AT_FIRST);
  return [
    rest.length ? [el("p", {}, `${counted(rest.length, "more finding")}:`), ...findingGroups(overview, rest)] : null,
    found.length ? el("ul", {}, ...found.map(({ detail }) => el("li", {}, detail))) : null,
    overview.findings_how.map((text) => el("p", {}, text)),
  ];
}

// Sessions to look at first: described, not tested

const TURNS_AT_FIRST = 3;

function renderLookFirst(overview) {
  const { rows, notes } = overview.look_first;
  const section = el("section", { "aria-labelledby": "look-first" }, part("look-first"));
  section.append(el("p", { class: "quiet small" }, "Not tested: places to begin reading. Some danger is missed: no mark is no sign of safety."));
  if (rows.length) section.append(el("ul", { class: "look" }, ...rows.map((row) => lookItem(overview, row))));
  else section.append(el("p", {}, "None was found. That is no finding about the sessions."));
  section.append(disclosure("How these are chosen", ...notes.map((text) => el("p", {}, text))));
  return section;
}

function lookItem(overview, { session, reasons }) {
  const one = overview.sessions[session];
  const name = one.view ? el("a", { class: "to-session", href: sessionHref(one.id) }, one.id) : el("strong", {}, one.id);
  const counselor = one.about.counselor ? el("span", { class: "quiet" }, ` (${one.about.counselor})`) : null;
  return el("li", {}, name, counselor, ": ", ...reasons.map(({ text, turns }, i) => [i ? "; " : null, text, one.view && turns.length ? [": ", ...turnLinks(one.id, turns)] : null]));
}

function turnLinks(id, turns) {
  const link = (turn, i) => [i ? ", " : null, el("a", { href: sessionHref(id, turn), "aria-label": `turn ${turn} of ${id}` }, i ? turn : `turn ${turn}`)];
  const rest = turns.length - TURNS_AT_FIRST;
  return [...turns.slice(0, TURNS_AT_FIRST).map(link), rest > 0 ? ", …" : null];
}

// What was not read, and limits

function renderUnread(overview) {
  const section = el("section", { "aria-labelledby": "unread" }, part("unread"));
  addTo(section, [el("h3", {}, "Files that could not be read, and what to check"), problemsTable(overview.problems), notesList(overview.sessions)]);
  if (overview.limits.length) section.append(el("h3", {}, "What this page does not show"), el("ul", {}, ...overview.limits.map((limit) => el("li", {}, limit))));
  return section;
}

function problemsTable(problems) {
  if (!problems.length) return el("p", {}, "None.");
  const row = (p) => el("tr", {}, el("th", { scope: "row" }, p.file), el("td", { class: "num" }, p.line ?? NOTHING), el("td", {}, p.problem), el("td", {}, p.remedy), el("td", {}, p.kind));
  const heads = ["File", "Line", "What is wrong", "What would be right", "Kind"].map((name) => el("th", { scope: "col" }, name));
  return scrollRegion("Table of what could not be read, and what to check; it scrolls", el("table", { class: "plain" }, el("caption", { class: "unseen" }, "What could not be read, and what to check"),
    el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...problems.map(row))));
}

/** Notes on sessions: the same note once, with all whom it is about. */
function notesList(sessions) {
  const notes = groupBy(sessions.flatMap((session) => session.notes.map((note) => ({ note, session }))), ({ note }) => note);
  if (!notes.size) return null;
  const items = [...notes].map(([note, list]) => el("li", {}, note, ": ", noteSessions(list.map(({ session }) => session))));
  return [el("h3", {}, "Notes on sessions"), el("ul", { class: "notes" }, ...items)];
}

const NOTE_SESSIONS_AT_FIRST = 8;

function noteSessions(sessions) {
  const link = (session) => (session.view ? el("a", { href: sessionHref(session.id) }, session.id) : session.id);
  const list = (some) => some.flatMap((session, i) => [i ? ", " : null, link(session)]);
  if (sessions.length <= NOTE_SESSIONS_AT_FIRST) return list(sessions);
  return disclosure(counted(sessions.length, "session"), ...list(sessions));
}

// What the words mean

function renderWords(overview) {
  const section = el("section", { "aria-labelledby": "words" }, part("words"));
  const codes = groupBy(overview.codes, (code) => `${code.book}: what the ${code.role} ${code.role === "client" ? "says" : "does"}`);
  for (const [name, list] of codes) section.append(disclosure(`Codes of ${name} (${list.length})`, glossary(list.map((code) => [code.label, code.definition, code.column]))));
  for (const [family, list] of groupBy(overview.measures, (measure) => measure.family)) {
    section.append(disclosure(`Columns: ${family.toLowerCase()} (${list.length})`, glossary(list.map(measureWords))));
  }
  return section;
}

function measureWords(measure) {
  const misleads = measure.misleads ? ` When it misleads: ${measure.misleads}.`.replace(/\.\.$/, ".") : "";
  const evidence = measure.evidence ? ` Evidence: ${measure.evidence}.` : "";
  return [measure.label, `${measure.meaning.replace(/\.$/, "")}.${misleads}${evidence}`, measure.name];
}

function glossary(entries) {
  return el("dl", { class: "glossary" }, ...entries.map(([term, text, column]) => el("div", {}, el("dt", {}, term, " ", el("code", {}, column)), el("dd", {}, text))));
}
