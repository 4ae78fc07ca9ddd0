// Unblinded corrections of codes: the reader saw the machine's answer first, so that they never become a kappa. Kept in
// memory, downloaded as unblinded_corrections.csv, and kept in this browser only when the reader asks for it. They hold
// session ids, turn numbers, codes and initials, and no word that was said.

/** sessions: Map id -> Map turn -> Map code -> {value: 0 or 1, machine: 0 or 1}; past: what to go back to. */
const corrections = {
  overview: null, sessions: new Map(), coder: "", kept: false, unsaved: false, past: [], listeners: new Set(), trouble: "", book: "",
};
const CORRECTIONS_FIELDS = ["session_id", "turn", "code", "value", "coder", "unblinded"];
const CORRECTIONS_FILE = "unblinded_corrections.csv";
const CORRECTIONS_NO_STORE = "This browser lets a page opened from disk, or in a private window, keep nothing. Download the file instead.";

/** Read what was kept, and put up the bar. Calling it again does nothing. */
function correctionsStart(overview) {
  if (corrections.overview !== null) return;
  corrections.overview = overview;
  correctionsLoad();
  document.getElementById("main").append(correctionsBar());
  window.addEventListener("beforeunload", (event) => {
    if (!corrections.unsaved || corrections.kept || correctionsCount().rows === 0) return;
    event.preventDefault();
    event.returnValue = "";
  });
  correctionsShow();
}

/** What the reader said of a code: 0, 1, or null where nothing. */
function correctionsValue(id, turn, code) {
  return corrections.sessions.get(id)?.get(turn)?.get(code)?.value ?? null;
}

/** Call `listener(id, turn)` at each change; turn is null where all may have changed. */
function correctionsListen(listener) {
  corrections.listeners.clear();
  corrections.listeners.add(listener);
}

/** Say whether the turn has the code; the machine's own value takes a correction back. */
function correctionsSet(id, turn, code, value, machine) {
  correctionsRemember(id, turn);
  const own = correctionsTurn(id, turn);
  if (value === machine && !own.confirmed) own.delete(code);
  else own.set(code, { value, machine });
  correctionsChanged(id, turn);
}

/** The codes of one book that are in view, and that the reader has not changed, are right: record the machine's values. */
function correctionsConfirm(id, turn, machine) {
  const seen = machine.filter(([code]) => correctionsInView(code));
  if (!seen.length) {
    announce(`No code of ${correctionsBook()} is in view.`);
    return;
  }
  correctionsRemember(id, turn);
  const own = correctionsTurn(id, turn);
  for (const [code, value] of seen) if (!own.has(code)) own.set(code, { value, machine: value });
  own.confirmed = true;
  correctionsChanged(id, turn);
  announce(`Confirmed: ${counted(seen.length, "code")} of ${correctionsBook()} that ${seen.length === 1 ? "is" : "are"} in view.`);
}

/** The books that have codes in the report, and the one that the reader reads by. */
function correctionsBooks() {
  return [...new Set(corrections.overview.codes.map((code) => code.book))];
}

function correctionsBook() {
  return corrections.book || (correctionsBooks().includes("mi") ? "mi" : correctionsBooks()[0]);
}

/** Whether a code belongs to that book, and its row can be seen: not one in a part that is closed. */
function correctionsInView(column) {
  const row = document.querySelector(`tr[data-code="${CSS.escape(column)}"]`);
  const code = corrections.overview.codes.find((one) => one.column === column);
  return row !== null && row.getClientRects().length > 0 && code?.book === correctionsBook();
}

/** Take back that the turn was looked at; what was changed stays changed. */
function correctionsUnconfirm(id, turn) {
  correctionsRemember(id, turn);
  const own = correctionsTurn(id, turn);
  for (const [code, one] of [...own]) if (one.value === one.machine) own.delete(code);
  own.confirmed = false;
  correctionsChanged(id, turn);
}

/** Whether the reader confirmed all codes of the turn. */
function correctionsConfirmed(id, turn) {
  return corrections.sessions.get(id)?.get(turn)?.confirmed === true;
}

function correctionsTurn(id, turn) {
  if (!corrections.sessions.has(id)) corrections.sessions.set(id, new Map());
  const turns = corrections.sessions.get(id);
  if (!turns.has(turn)) turns.set(turn, new Map());
  return turns.get(turn);
}

function correctionsCopy(own) {
  const copy = new Map(own ?? []);
  copy.confirmed = own?.confirmed === true;
  return copy;
}

function correctionsRemember(id, turn) {
  corrections.past.push({ id, turn, own: correctionsCopy(corrections.sessions.get(id)?.get(turn)) });
}

function correctionsUndo() {
  const last = corrections.past.pop();
  if (!last) return;
  if (last.all) corrections.sessions = last.all;
  else {
    correctionsTurn(last.id, last.turn);
    corrections.sessions.get(last.id).set(last.turn, last.own);
  }
  correctionsChanged(last.id ?? null, last.turn ?? null);
  announce(last.all ? "The corrections are back." : `Undone: turn ${last.turn} of ${last.id}.`);
}

function correctionsChanged(id, turn) {
  corrections.unsaved = true;
  if (corrections.kept) correctionsStore();
  for (const listener of corrections.listeners) listener(id, turn);
  correctionsShow();
}

/** How many codes were changed, how many turns confirmed, how many rows the file has. */
function correctionsCount() {
  const count = { changed: 0, confirmed: 0, rows: 0 };
  for (const turns of corrections.sessions.values()) {
    for (const own of turns.values()) {
      count.confirmed += own.confirmed ? 1 : 0;
      count.rows += own.size;
      for (const one of own.values()) count.changed += one.value === one.machine ? 0 : 1;
    }
  }
  return count;
}

/** The rows of the file, in the order of the sessions, turns and codes of the report. */
function correctionsRows() {
  const coder = corrections.coder.trim() || "reader";
  const order = new Map(corrections.overview.codes.map((code, at) => [code.column, at]));
  const rows = [];
  for (const { id } of corrections.overview.sessions) {
    const turns = [...(corrections.sessions.get(id) ?? [])].sort(([a], [b]) => a - b);
    for (const [turn, own] of turns) {
      const codes = [...own].sort(([a], [b]) => order.get(a) - order.get(b));
      for (const [code, one] of codes) rows.push([id, turn, code, one.value, coder, 1]);
    }
  }
  return rows;
}

function correctionsDownload() {
  download(CORRECTIONS_FILE, csvText([CORRECTIONS_FIELDS, ...correctionsRows()]));
  corrections.unsaved = false;
  announce(`${CORRECTIONS_FILE} was handed to the browser.`);
}

/* ---- Keeping them in this browser: only after the reader asked ---- */

/** A key of this report's own, so that two reports do not mix: a hash of the program, its sessions and their turns. */
function correctionsKey() {
  const { program, sessions } = corrections.overview;
  const text = JSON.stringify([program.split(" ")[0], sessions.map(({ id, n_turns }) => [id, n_turns])]);
  return `therapy-analytics-corrections-${correctionsHash(text, 2166136261)}${correctionsHash(text, 40503)}`;
}

/** FNV-1a, 32 bits, as eight hexadecimal digits. */
function correctionsHash(text, start) {
  let hash = start;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

function correctionsStore() {
  const sessions = [...corrections.sessions].map(([id, turns]) => [id, [...turns].map(([turn, own]) => [turn, own.confirmed === true, [...own].map(([code, one]) => [code, one.value, one.machine])])]);
  return correctionsTry(() => localStorage.setItem(correctionsKey(), JSON.stringify({ coder: corrections.coder, sessions })));
}

/** Browsers may refuse: from disk, in private windows, when full. */
function correctionsTry(act) {
  try {
    corrections.trouble = "";
    return { value: act(), ok: true };
  } catch {
    corrections.trouble = CORRECTIONS_NO_STORE;
    return { value: null, ok: false };
  }
}

function correctionsKeep() {
  corrections.kept = correctionsStore().ok;
  corrections.unsaved &&= !corrections.kept;
  announce(corrections.kept ? "Kept in this browser." : CORRECTIONS_NO_STORE);
  correctionsShow();
}

/** Delete them here and in the browser's storage. Until the page is closed, Undo brings them back. */
function correctionsForget() {
  corrections.past = [{ all: corrections.sessions }];
  corrections.sessions = new Map();
  const gone = correctionsTry(() => localStorage.removeItem(correctionsKey())).ok || !corrections.kept;
  corrections.kept = corrections.kept && !gone;
  correctionsChanged(null, null);
  corrections.unsaved = false;
  announce("Forgotten.");
}

function correctionsLoad() {
  const text = correctionsTry(() => localStorage.getItem(correctionsKey())).value;
  corrections.trouble = "";
  if (!text) return;
  correctionsTry(() => correctionsTake(JSON.parse(text)));
  corrections.kept = true;
  corrections.unsaved = false;
}

/** What is kept may be old or another's: only what fits this report is taken. */
function correctionsTake({ coder, sessions }) {
  const known = new Map(corrections.overview.sessions.map((session) => [session.id, session.n_turns]));
  const codes = new Set(corrections.overview.codes.map((code) => code.column));
  const flag = (value) => value === 0 || value === 1;
  corrections.coder = String(coder ?? "");
  for (const [id, turns] of sessions) {
    for (const [turn, confirmed, rows] of turns) {
      if (!Number.isInteger(turn) || turn < 0 || !(turn < known.get(id))) continue;
      const own = correctionsTurn(id, turn);
      own.confirmed = confirmed === true;
      for (const [code, value, machine] of rows) if (codes.has(code) && flag(value) && flag(machine)) own.set(code, { value, machine });
    }
  }
}

/* ---- The bar at the foot ---- */

const correctionsBarParts = {};

function correctionsBar() {
  const parts = correctionsBarParts;
  const button = (text, act, cls = "") => el("button", { type: "button", class: cls, onclick: act }, text);
  const initials = (event) => {
    corrections.coder = event.target.value;
    corrections.unsaved = true;
    if (corrections.kept) correctionsStore();
  };
  parts.count = el("strong", { class: "co-count" });
  parts.coder = el("input", { id: "co-coder", size: 6, maxlength: 20, autocomplete: "off", spellcheck: "false", oninput: initials });
  parts.keep = button("Keep them in this browser", correctionsKeep);
  parts.kept = el("span", { class: "co-kept" }, "✓ Kept in this browser");
  parts.undo = button("Undo", correctionsUndo);
  parts.download = button(`Download ${CORRECTIONS_FILE}`, correctionsDownload, "co-main");
  parts.forget = button("Forget them", correctionsForget);
  parts.trouble = el("p", { class: "co-trouble" });
  const coder = el("span", { class: "co-coder" }, el("label", { for: "co-coder" }, "Your initials"), parts.coder);
  const row = el("div", { class: "co-row" }, parts.count, coder, correctionsBookChoice(), parts.download, parts.keep, parts.kept, parts.forget, parts.undo);
  parts.bar = el("section", { class: "co-bar", "aria-label": "Your unblinded corrections", hidden: true }, row, parts.trouble, correctionsAbout());
  return parts.bar;
}

/** Which book the reader reads by: only its codes are confirmed. */
function correctionsBookChoice() {
  const shortOf = (book) => corrections.overview.codes.find((code) => code.book === book).short;
  const options = correctionsBooks().map((book) => el("option", { value: book, selected: book === correctionsBook() }, shortOf(book)));
  const choice = el("select", { id: "co-book", onchange: () => { corrections.book = choice.value; } }, options);
  return options.length < 2 ? null : el("span", { class: "co-coder" }, el("label", { for: "co-book" }, "Confirm codes of"), choice);
}

function correctionsAbout() {
  return el("details", { class: "co-about" }, el("summary", {}, "What is in the file, and what is kept"),
    el("p", {}, "Only what you changed or confirmed is in the file; a turn found right confirms the codes of one book that were in view."),
    el("p", {}, "You saw the machine's answer before you gave yours, and people tend to go along with what they see. So these are unblinded corrections: for discussing a session, not for measuring agreement or for learning. tanalyze agree, compare, outcomes and train refuse the file. To measure, draw a sample and have it coded blind: tanalyze sample, then tanalyze code."),
    el("p", {}, "“Keep” writes session ids, turn numbers, codes and your initials into this browser's storage on this machine, so that they survive a reload; no word that was said, and nothing is sent anywhere. Whoever uses this browser account can read it. “Forget” deletes it all."));
}

/** Bring the bar up to date. */
function correctionsShow() {
  const parts = correctionsBarParts;
  const { changed, confirmed, rows } = correctionsCount();
  parts.bar.hidden = rows === 0 && corrections.past.length === 0 && !corrections.kept;
  document.documentElement.classList.toggle("correcting", !parts.bar.hidden);
  parts.count.textContent = `${counted(changed, "unblinded correction")}${confirmed ? `, ${counted(confirmed, "turn")} confirmed` : ""}`;
  if (parts.coder.value !== corrections.coder) parts.coder.value = corrections.coder;
  // A button that vanishes under the reader's finger would lose the focus: it passes on.
  const focused = document.activeElement;
  parts.keep.hidden = corrections.kept || rows === 0;
  parts.kept.hidden = !corrections.kept;
  parts.download.disabled = rows === 0;
  parts.forget.hidden = rows === 0 && !corrections.kept;
  parts.undo.hidden = corrections.past.length === 0;
  if (focused?.hidden || focused?.disabled) (parts.undo.hidden ? parts.download : parts.undo).focus();
  parts.trouble.textContent = corrections.trouble;
  parts.trouble.hidden = corrections.trouble === "";
}
