// The panel of one turn: what is known of it, and its codes with their probabilities.

const TURN_LIKELY = 0.1;

/** Show a turn in the panel. `go(turn)` picks another. */
function turnShow(panel, model, turn, go) {
  panel.replaceChildren(...turnParts(panel, model, turn, go));
  panel.scrollTop = 0;
}

function turnParts(panel, model, turn, go) {
  const head = el("h3", { id: "turn-title", tabindex: "-1" }, turn === null ? "No turn picked" : `Turn ${turn}, ${sessionRole(model, turn)}`);
  if (turn === null) return [head, el("p", { class: "quiet" }, "Pick a turn on the timeline or in the list: its codes come here.")];
  return [
    el("div", { class: "turn-head" }, head, turnSteps(model, turn, go)), turnFacts(model, turn), turnMarks(model, turn),
    turnBefore(model, turn), turnWords(model, turn), turnCodes(model, turn),
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
  const matters = (code) => sure(code) >= TURN_LIKELY * 100 || model.on(turn, code.column) || model.unsure(turn, code.column);
  const [first, rest] = [sorted.filter(matters), sorted.filter((code) => !matters(code))];
  const parts = [];
  if (first.length) parts.push(turnTable(model, turn, first, "Codes of this turn"));
  else parts.push(el("p", { class: "quiet" }, "No code is at 10% or more."));
  if (rest.length) parts.push(disclosure(`${counted(rest.length, "code")} under 10%`, turnTable(model, turn, rest, "Codes under 10%")));
  parts.push(el("p", { class: "quiet small" }, "✓: the turn has the code. Each code counts from a probability of its own, which may lie well under 50%."));
  return el("div", { class: "turn-codes" }, parts);
}

function turnTable(model, turn, codes, name) {
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Code"), el("th", { scope: "col" }, "Probability"), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Meaning"))));
  return el("table", { class: "turn-table", "aria-label": name }, head, el("tbody", {}, codes.map((code) => turnCode(model, turn, code))));
}

function turnCode(model, turn, code) {
  const [p, has] = [model.p(turn, code.column), model.on(turn, code.column)];
  const bar = p === null ? null : barWithInterval(p / 100, null, null, { width: 60 });
  const cell = el("td", { class: "turn-p" }, el("span", { class: "num" }, p === null ? NOTHING : turnPercent(p)), bar);
  const sign = el("span", { class: "turn-has" }, has ? [el("span", { "aria-hidden": "true" }, "✓"), el("span", { class: "unseen" }, "has ")] : null);
  const label = el("span", { class: "turn-label" }, sign, el("span", {}, code.label, model.twins.has(code.label) ? el("span", { class: "quiet" }, ` (${code.short})`) : null));
  const unsure = model.unsure(turn, code.column) ? el("span", { class: "turn-unsure" }, "? unsure") : null;
  const meaning = meaningButton({ label: code.label, meaning: code.definition });
  return el("tr", { "data-code": code.column }, el("th", { scope: "row" }, label, unsure), cell, el("td", {}, meaning));
}

const turnPercent = (p) => (p <= 0 ? "<1%" : p >= 100 ? ">99%" : `${p}%`);
