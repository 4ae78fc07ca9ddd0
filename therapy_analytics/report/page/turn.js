// The panel of one turn: what is known of it, its codes with their probabilities, and the reader's say.

const TURN_LIKELY = 0.1;

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
  const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Code"), el("th", { scope: "col" }, "Probability"), el("th", { scope: "col" }, el("span", { class: "unseen" }, "Meaning"))));
  return el("table", { class: "turn-table", "aria-label": name }, head, el("tbody", {}, codes.map((code) => turnCode(model, turn, code))));
}

function turnCode(model, turn, code) {
  const p = model.p(turn, code.column);
  const box = el("input", { type: "checkbox", checked: sessionState(model, turn, code.column).value === 1, onchange: (event) => {
    correctionsSet(model.id, turn, code.column, event.target.checked ? 1 : 0, model.on(turn, code.column) ? 1 : 0);
  } });
  const state = el("span", { class: "turn-state" });
  const bar = p === null ? null : barWithInterval(p / 100, null, null, { width: 60 });
  const cell = el("td", { class: "turn-p" }, el("span", { class: "num" }, p === null ? NOTHING : turnPercent(p)), bar);
  const label = el("label", {}, box, el("span", {}, code.label, model.twins.has(code.label) ? el("span", { class: "quiet" }, ` (${code.short})`) : null));
  const meaning = meaningButton({ label: code.label, meaning: code.definition });
  const row = el("tr", { "data-code": code.column }, el("th", { scope: "row" }, label, state), cell, el("td", {}, meaning));
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
  for (const row of panel.querySelectorAll("tr[data-code], .turn-confirm")) row.refresh();
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
