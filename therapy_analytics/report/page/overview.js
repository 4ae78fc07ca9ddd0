// The overview: what this page is, what stands out, the sessions, the groups, a profile, what could not be read, and what
// the words mean. renderOverview draws it once; afterwards it is only shown and hidden.

/** The parts and their headings, in the order of the page; also the links at the top. */
const OVERVIEW_PARTS = [
  ["standing-out", "What stands out"],
  ["sessions", "Sessions"],
  ["groups", "Groups"],
  ["profile", "Profile"],
  ["unread", "What was not read, and limits"],
  ["words", "What the words mean"],
];

function overviewParts() {
  return OVERVIEW_PARTS.map(([id, text]) => [text, `#${id}`]);
}

/** Draw the overview into the empty `root`. */
function renderOverview(root, overview) {
  addTo(root, [
    renderIntroduction(overview),
    renderFindings(overview),
    renderSessions(overview),
    renderGroups(overview),
    renderProfile(overview),
    renderUnread(overview),
    renderWords(overview),
  ]);
  document.getElementById("foot").textContent = `Made by ${overview.program}. This file asks nothing of any other address.`;
}

/** The heading of a part, to which links lead. */
function part(id) {
  return el("h2", { id, tabindex: -1 }, OVERVIEW_PARTS.find(([name]) => name === id)[1]);
}

function renderIntroduction(overview) {
  const turns = overview.sessions.reduce((sum, session) => sum + (session.n_turns ?? 0), 0);
  const size = `${counted(overview.sessions.length, "session")}, ${counted(turns, "turn")}`;
  const words = overview.quotes ? "This page holds the transcripts: keep it as you keep those." : "This page holds no words of the sessions.";
  const left = overview.n_left_out ? ` ${counted(overview.n_left_out, "session")} stand in the table without a view of their own, to keep the file small.` : "";
  return el("div", { class: "intro" },
    el("p", { class: "lead" }, `${size}, coded by the ${overview.tagger.replace(/^the /, "")}. `, el("strong", {}, words), left),
    el("p", { class: "quiet" }, "Codes are predictions and numbers have intervals: read it as a map of where to look, not as marks for anyone. "));
}

// What stands out

const FINDINGS_AT_FIRST = 12;

function renderFindings(overview) {
  const found = overview.findings.map((finding) => findingItem(overview, finding));
  const section = el("section", { "aria-labelledby": "standing-out" }, part("standing-out"));
  if (!found.length) section.append(el("p", {}, "Nothing stands out."));
  else section.append(el("ul", { class: "findings" }, ...found.slice(0, FINDINGS_AT_FIRST)));
  if (found.length > FINDINGS_AT_FIRST) {
    section.append(disclosure(`${found.length - FINDINGS_AT_FIRST} more`, el("ul", { class: "findings" }, ...found.slice(FINDINGS_AT_FIRST))));
  }
  if (overview.findings_how) section.append(disclosure("How these were chosen", el("p", {}, overview.findings_how)));
  return section;
}

function findingItem(overview, finding) {
  const measure = overview.measures.find((m) => m.name === finding.measure);
  return el("li", {}, finding.text, " ", el("span", { class: "links" }, findingLink(overview, finding), measure ? meaningButton(measure) : null));
}

function findingLink(overview, { session, group }) {
  const one = session === null ? null : overview.sessions[session];
  if (one?.view) return el("a", { href: sessionHref(one.id) }, `Open ${one.id}`);
  const key = one ? `session ${session}` : group ? `group ${group[0]} ${group[1]}` : null;
  return key && el("a", { href: "#profile", onclick: () => chooseProfile(key) }, `Profile of ${one?.id ?? group[1]}`);
}

// What was not read, and limits

function renderUnread(overview) {
  const section = el("section", { "aria-labelledby": "unread" }, part("unread"));
  addTo(section, [el("h3", {}, "Files that could not be read, and what to check"), problemsTable(overview.problems), notesList(overview.sessions)]);
  if (overview.limits.length) section.append(el("h3", {}, "What this page does not show"), el("ul", {}, ...overview.limits.map((limit) => el("li", {}, limit))));
  return section;
}

function problemsTable(problems) {
  if (!problems.length) return el("p", {}, "None: all that was given was read.");
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
