// The panel of one turn: what is known of it, its codes with their probabilities, which words led to them, and the
// reader's say.

const TURN_LIKELY = 0.1;
/** Kinds of evidence other than words, as `--explain` writes them. */
const TURN_KINDS = {
  before: "the turns before", after: "the turn after", form: "form of the turn", code: "another code",
  rest: "everything else together", bias: "before anything is said", fast: "the fast tagger's score",
  turn: "the turn as the sentence encoder reads it", session: "how common the code seems in the session",
};
/** What the tagger's features of form look at; the rest are counts of a set of words. */
const TURN_FORMS = {
  asks: "it asks", ends_asking: "it ends with a question", asks_before: "the turn before asks", words: "its length",
  words_before: "length of the turn before", words_after: "length of the turn after", position: "where in the session it stands",
  early: "early in the session", late: "late in the session", first_turn: "first turn", last_turn: "last turn",
  echo: "takes up words of the turn before", echo_share: "takes up words of the turn before", echo_next_share: "the next turn takes up its words",
  sentences: "number of sentences", aux_you: "“do you”, “can you”…", wh_aux: "“what do”, “how is”…", you_modal: "“you should”, “you could”…",
};
const TURN_WORD_SETS = { wh: "what, how, why…", aux: "do, is, can…", you: "you, your…", i: "I, my…", we: "we, our…", modal: "should, must, could…" };
const TURN_NO_EVIDENCE = "These results hold no evidence. To get it: tanalyze run … --explain, and with --quotes also the words themselves.";

/** Show a turn in the panel. `go(turn)` picks another. */
function turnShow(panel, model, turn, go) {
  panel.replaceChildren(...turnParts(panel, model, turn, go));
  panel.scrollTop = 0;
}

function turnParts(panel, model, turn, go) {
  const head = el("h3", { id: "turn-title", tabindex: "-1" }, turn === null ? "No turn picked" : `Turn ${turn}, ${sessionRole(model, turn)}`);
  if (turn === null) return [head, el("p", { class: "quiet" }, "Pick a turn on the timeline or in the list: its codes come here, and can be corrected.")];
  return [
    el("div", { class: "turn-head" }, head, turnSteps(model, turn, go)), turnFacts(model, turn), turnMarks(model, turn),
    turnBefore(model, turn), turnWords(model, turn), turnCodes(model, turn), turnConfirm(model, turn),
  ].filter(Boolean);
}

function turnSteps(model, turn, go) {
  const button = (text, name, to) => el("button", { type: "button", "aria-label": name, disabled: to < 0 || to >= model.n, onclick: () => {
    go(to);
    // The panel was drawn anew: the focus stays with the same button.
    const again = document.querySelector(`.turn-steps [aria-label="${name}"]:enabled`);
    (again ?? document.getElementById("turn-title")).focus({ preventScroll: true });
  } }, text);
  const any = Math.floor(Math.random() * model.n);
  return el("div", { class: "turn-steps" }, button("‹", "Turn before", turn - 1), button("›", "Next turn", turn + 1), button("At random", "At random: any turn", any));
}

function turnFacts(model, turn) {
  const { data } = model;
  const facts = [];
  if (data.speaker) facts.push(`labelled “${data.speaker[turn]}”`);
  facts.push(sessionWords(model, turn));
  if (data.unit === "minutes" && isNumber(data.start[turn])) facts.push(`${turnClock(data.start[turn])} to ${turnClock(data.end[turn])}`);
  if (isNumber(data.first_row?.[turn])) facts.push(`from row ${data.first_row[turn]} of the file`);
  return el("p", { class: "quiet turn-facts" }, facts.join(" · "));
}

/** Minutes as 3:20 or 1:03:20. */
function turnClock(minutes) {
  const seconds = Math.round(minutes * 60);
  const two = (x) => String(x).padStart(2, "0");
  const [hours, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(rest)}:${two(seconds % 60)}` : `${rest}:${two(seconds % 60)}`;
}

function turnMarks(model, turn) {
  const marks = model.marksAt(turn);
  if (!marks.length) return null;
  return el("ul", { class: "turn-marks", "aria-label": "Marks" }, marks.map((mark) => el("li", { class: mark.danger ? "danger" : "" }, mark.label)));
}

function turnWords(model, turn) {
  if (!model.data.text) return null;
  return el("blockquote", { class: `turn-words role-${model.roles[turn]}` }, sessionSaid(model, turn));
}

/** What the turn answers: a therapist's turn the client's last one. */
function turnBefore(model, turn) {
  const before = sessionBefore(model, turn);
  if (!model.data.text || before < 0) return null;
  const who = el("span", { class: "who" }, `Before, turn ${before}, ${sessionRole(model, before)}: `);
  return el("blockquote", { class: `turn-before role-${model.roles[before]}` }, who, sessionSaid(model, before));
}

/* ---- Codes ---- */

/** The codes of the turn's role, most probable first; those that hardly apply wait in a part that opens. */
function turnCodes(model, turn) {
  const codes = model.codesOf(model.roles[turn]);
  if (!codes.length) return el("p", { class: "quiet" }, "Turns of this role are not coded.");
  const sure = (code) => model.p(turn, code.column) ?? (model.on(turn, code.column) ? 100 : 0);
  const sorted = [...codes].sort((a, b) => sure(b) - sure(a));
  const matters = (code) => sure(code) >= TURN_LIKELY * 100 || sessionState(model, turn, code.column).marked;
  const [first, rest] = [sorted.filter(matters), sorted.filter((code) => !matters(code))];
  const parts = [];
  if (first.length) parts.push(turnTable(model, turn, first, "Codes of this turn"));
  else parts.push(el("p", { class: "quiet" }, "No code is at 10% or more."));
  if (rest.length) parts.push(disclosure(`${counted(rest.length, "code")} under 10%`, turnTable(model, turn, rest, "Codes under 10%")));
  parts.push(el("p", { class: "quiet small" }, "A code counts from a probability of its own, which may lie well under 50%."));
  return el("div", { class: "turn-codes" }, parts);
}

function turnTable(model, turn, codes, name) {
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Code"), el("th", { scope: "col" }, "Probability"), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Why"))));
  return el("table", { class: "turn-table", "aria-label": name }, head, codes.map((code) => turnCode(model, turn, code)));
}

/** A row of its own body, so that what led to the code can open beneath. */
function turnCode(model, turn, code) {
  const p = model.p(turn, code.column);
  const box = el("input", { type: "checkbox", checked: sessionState(model, turn, code.column).value === 1, onchange: (event) => {
    correctionsSet(model.id, turn, code.column, event.target.checked ? 1 : 0, model.on(turn, code.column) ? 1 : 0);
  } });
  const state = el("span", { class: "turn-state" });
  const why = el("tr", { hidden: true }, el("td", { colspan: 3 }));
  const toggle = () => turnWhyToggle(model, turn, code, button, why);
  const name = `Why? Which words led to ${code.label}`;
  const button = el("button", { type: "button", class: "link", "aria-expanded": "false", "aria-label": name, onclick: toggle }, "Why?");
  const bar = p === null ? null : barWithInterval(p / 100, null, null, { width: 60 });
  const cell = el("td", { class: "turn-p" }, el("span", { class: "num" }, p === null ? NOTHING : turnPercent(p)), bar);
  const label = el("label", {}, box, el("span", {}, code.label, model.twins.has(code.label) ? el("span", { class: "quiet" }, ` (${code.short})`) : null));
  const row = el("tbody", { "data-code": code.column }, el("tr", {}, el("th", { scope: "row" }, label, state), cell, el("td", {}, button)), why);
  row.refresh = () => turnState(model, turn, code.column, box, state);
  row.refresh();
  return row;
}

const turnPercent = (p) => (p <= 0 ? "<1%" : p >= 100 ? ">99%" : `${p}%`);

function turnState(model, turn, column, box, node) {
  const state = sessionState(model, turn, column);
  box.checked = state.value === 1;
  const says = model.on(turn, column) ? "yes" : "no";
  if (state.corrected) {
    const undo = el("button", { type: "button", class: "link", onclick: () => {
      correctionsSet(model.id, turn, column, state.machine, state.machine);
      box.focus();
    } }, "undo");
    node.replaceChildren(el("strong", { class: "corrected" }, "◆ corrected"), ` (machine: ${says}) `, undo);
  } else node.replaceChildren(state.unsure ? `? unsure${state.reviewed ? ", confirmed by you" : ""}` : "");
}

/** Bring the panel up to date without drawing it anew: the focus stays. */
function turnRefresh(panel) {
  for (const row of panel.querySelectorAll("tbody[data-code], .turn-confirm")) row.refresh();
}

/* ---- A turn found right ---- */

function turnConfirm(model, turn) {
  const codes = model.codesOf(model.roles[turn]);
  if (!codes.length) return null;
  const button = el("button", { type: "button", onclick: () => {
    if (correctionsConfirmed(model.id, turn)) correctionsUnconfirm(model.id, turn);
    else correctionsConfirm(model.id, turn, codes.map((code) => [code.column, model.on(turn, code.column) ? 1 : 0]));
  } });
  const said = el("span", { class: "quiet small" });
  const node = el("div", { class: "turn-confirm" }, button, said);
  node.refresh = () => turnConfirmText(model, turn, codes, button, said);
  node.refresh();
  return node;
}

function turnConfirmText(model, turn, codes, button, said) {
  const changed = codes.filter((code) => sessionState(model, turn, code.column).corrected).length;
  if (correctionsConfirmed(model.id, turn)) {
    button.textContent = "Take back";
    said.textContent = "✓ You confirmed the codes of one book that were in view.";
  } else {
    button.textContent = changed ? "The other codes are right" : "These codes are right";
    said.textContent = "Confirms the codes in view of the book chosen below the page.";
  }
}

/* ---- What led to a code ---- */

function turnWhyToggle(model, turn, code, button, row) {
  row.hidden = !row.hidden;
  button.setAttribute("aria-expanded", String(!row.hidden));
  if (!row.hidden) row.firstChild.replaceChildren(...turnWhy(model, turn, code));
}

function turnWhy(model, turn, code) {
  const { data } = model;
  const parts = [el("p", { class: "small" }, code.definition)];
  if (!data.evidence && !data.evidence_other) return [...parts, el("p", { class: "small" }, TURN_NO_EVIDENCE)];
  const words = turnMerged((data.evidence?.[code.column] ?? []).filter((one) => one[0] === turn));
  const other = (data.evidence_other?.[code.column] ?? []).filter((one) => one[0] === turn);
  if (!words.length && !other.length) return [...parts, el("p", { class: "small" }, "No evidence is written for this code here: it is for codes that the machine gave, and for those of which it is unsure.")];
  if (data.text && words.length) parts.push(turnHighlighted(data.text[turn], words), el("p", { class: "small quiet" }, "The words that weighed most. Underlined with +: spoke for the code. Wavy with −: spoke against it. Thicker: more."));
  if (!data.text) parts.push(el("p", { class: "small" }, "Which words they were is in reports made with --quotes only."));
  return [...parts, other.length ? turnOther(model, other, words.length > 0) : null].filter(Boolean);
}

/** A word may have moved the tagger twice (to the group and to the kind): added up. Strongest first. */
function turnMerged(rows) {
  const merged = new Map();
  for (const [, start, end, weight] of rows) {
    const key = `${start}-${end}`;
    merged.set(key, { start, end, weight: (merged.get(key)?.weight ?? 0) + weight });
  }
  return [...merged.values()].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
}

function turnHighlighted(text, words) {
  const most = Math.max(...words.map((one) => Math.abs(one.weight)));
  const parts = textParts(text, words).map(({ text: said, span }) => {
    if (!span) return said;
    const strength = Math.min(3, Math.ceil((Math.abs(span.weight) / most) * 3)) || 1;
    const side = span.weight >= 0 ? "for" : "against";
    const tell = `${side} the code, weight ${number(Math.abs(span.weight))}`;
    const sign = el("span", { class: "why-sign", "aria-hidden": "true" }, span.weight >= 0 ? "+" : "−");
    return [el("span", { class: `why-${side} why-${strength}`, title: tell }, said), sign, el("span", { class: "unseen" }, ` (${side}) `)];
  });
  return el("p", { class: "turn-why" }, parts);
}

/** Text cut at spans. Spans count characters as Python does; JavaScript counts some characters twice. */
function textParts(text, spans) {
  const letters = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  const cut = (from, to) => (letters ? letters.slice(from, to).join("") : text.slice(from, to));
  const length = letters ? letters.length : text.length;
  const parts = [];
  let at = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start < at || span.end > length || span.end <= span.start) continue;
    if (span.start > at) parts.push({ text: cut(at, span.start), span: null });
    parts.push({ text: cut(span.start, span.end), span });
    at = span.end;
  }
  if (at < length) parts.push({ text: cut(at, length), span: null });
  return parts;
}

/** A term of the tagger in words: "form: it ends with a question", "another code: Reflection". */
function turnReason(model, kind, name) {
  const says = TURN_KINDS[kind] ?? kind;
  if (kind === "code") return `${says}: ${model.codes.find((code) => code.column === name)?.label ?? name.replaceAll("_", " ")}`;
  return kind === "form" ? `${says}: ${turnForm(name)}` : says;
}

function turnForm(name) {
  if (name in TURN_FORMS) return TURN_FORMS[name];
  const [, set] = /^(?:has|rate)_(.+)$/.exec(name) ?? [];
  return set === undefined ? name.replaceAll("_", " ") : `words such as ${TURN_WORD_SETS[set] ?? `those of “${set}”`}`;
}

function turnOther(model, rows, hasWords) {
  const sorted = [...rows].sort((a, b) => Math.abs(b[3]) - Math.abs(a[3])).slice(0, 8);
  const items = sorted.map(([, kind, name, weight]) => el("li", {}, el("span", { class: "num" }, `${weight >= 0 ? "+" : ""}${number(weight)}`), ` ${turnReason(model, kind, String(name ?? ""))}`));
  return el("div", { class: "small" }, el("p", {}, `${hasWords ? "Besides these words" : "What moved the tagger"} (above 0 speaks for the code, below 0 against it):`), el("ul", { class: "turn-other" }, items));
}
