// What is seen while two coders' differences are settled: the turn, what each gave, what is decided.

const view = { parts: {}, defined: null, message: "" };

function viewStart() {
  const parts = view.parts;
  const [first, second] = settling.data.coders;
  parts.top = document.getElementById("top");
  parts.main = document.getElementById("main");
  parts.help = helpDialog([
    [["1"], `take the codes of ${first}`], [["2"], `take the codes of ${second}`], [["a", "…"], "decide the code with this letter by hand: yes, then no"],
    [["Enter"], "settled: on to the next"], [["←", "→"], "back and forward"], [["n"], "write a note; Enter or Esc ends it"], [["?"], "this list"],
  ], (on) => { settling.letters = on; });
  parts.ask = viewAsk();
  viewTop();
  viewParts();
  keysAct(viewAction);
  focusReturns(() => (view.parts.grid.hidden ? view.parts.end : view.parts.turn));
  fromOtherTabs(settlingKey(), (kept) => { settlingTake(kept); viewShow(); });
  viewShow();
}

/** Who decides: asked once, before the first decision. */
function viewAsk() {
  const name = el("input", { id: "by", type: "text", maxlength: 40, required: true, autocomplete: "off", spellcheck: "false" });
  const form = el("form", { method: "dialog" }, el("h2", { id: "ask-title" }, "Who decides?"), el("p", {}, "The name or initials stand in settled.csv beside each decision."),
    el("label", { for: "by" }, "Name or initials"), " ", name, " ", el("button", { type: "submit", class: "main" }, "That is me"));
  const dialog = el("dialog", { "aria-labelledby": "ask-title" }, form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!name.value.trim()) return;
    settling.by = name.value.trim();
    settlingKeep();
    dialog.close();
    view.then?.();
    view.then = null;
    viewShow();
  });
  dialog.addEventListener("close", () => document.activeElement?.blur());
  document.body.append(dialog);
  return { dialog, name };
}

function viewWho(then = null) {
  view.then = then;
  view.parts.ask.name.value = settling.by;
  view.parts.ask.dialog.showModal();
  view.parts.ask.name.focus();
}

function viewTop() {
  const parts = view.parts;
  parts.progress = el("progress", { "aria-label": "Differences settled", max: 1, value: 0 });
  parts.count = el("span", { class: "count" });
  parts.saved = el("span", { class: "saved" });
  parts.by = el("button", { type: "button", onclick: () => viewWho() });
  parts.open = el("button", { type: "button", onclick: () => { settlingResume(); viewShow(true); } }, "Next open");
  const load = fileButton("Load settled.csv…", (text) => {
    const { items, problem } = settlingLoad(text);
    settlingResume();
    viewShow();
    tell(problem ?? `${counted(items, "decision")} taken from the file.`);
  });
  parts.message = el("p", { class: "notice message", hidden: true });
  parts.top.append(
    el("div", { class: "work-head" }, el("div", { class: "work-title" }, el("h1", {}, settling.data.coders.join(" and "))), el("div", { class: "work-progress" }, parts.progress, parts.count, parts.saved)),
    el("div", { class: "work-tools" }, parts.open, parts.by, load, el("button", { type: "button", onclick: viewDownload }, "Download settled.csv"),
      el("button", { type: "button", onclick: () => parts.help.showModal() }, "Keys ", keycap("?"))),
    parts.message,
  );
}

function viewTopShow() {
  const parts = view.parts;
  const all = settling.items.length;
  const done = all - settlingOpen().length;
  parts.progress.max = all || 1;
  parts.progress.value = all ? done : 1;
  parts.count.textContent = `${done} of ${all} settled`;
  parts.saved.textContent = settling.keeper.saved ? `✓ Kept in this browser, ${settling.keeper.saved}` : "";
  parts.by.textContent = settling.by ? `Decided by ${settling.by}` : "Who decides?";
  parts.open.hidden = done === all;
  messageShow(parts, settling.keeper);
}

function viewParts() {
  const parts = view.parts;
  turnParts(parts);
  parts.notes = el("section", { class: "reveal", role: "region", tabindex: 0, "aria-label": "What the coders noted" });
  parts.codes = el("section", { class: "codes settle", "aria-label": "Codes" });
  noteParts(parts, "Why (own words, no names)", (note) => settlingChange(viewItem(), { note }), viewNote);
  parts.state = el("span", { class: "state", role: "status" });
  parts.done = el("button", { type: "button", class: "main done", "aria-keyshortcuts": "Enter", onclick: viewDone }, "Settled ", keycap("Enter"));
  parts.bar = el("div", { class: "work-bar", role: "group", "aria-label": "This difference" }, parts.noteBox, moveButtons(viewMove), parts.noteButton, parts.state, parts.done);
  parts.grid = el("div", { class: "work-grid" }, el("div", { class: "work-left" }, parts.about, parts.context, parts.turn, parts.notes), el("div", { class: "work-right" }, parts.codes, parts.defined));
  parts.end = el("section", { class: "end", tabindex: -1 });
  parts.main.append(parts.grid, parts.end, parts.bar);
}

function viewItem() {
  return settling.items[settling.at];
}

function viewShow(moved = false) {
  const parts = view.parts;
  const ended = settling.at >= settling.items.length;
  viewTopShow();
  for (const part of [parts.grid, parts.bar]) part.hidden = ended;
  parts.end.hidden = !ended;
  if (ended) viewEnd(moved);
  else viewTurn(viewItem(), moved);
}

function viewTurn(item, moved) {
  const parts = view.parts;
  const { turn } = item;
  if (parts.shown !== itemKey(item)) {
    parts.shown = itemKey(item);
    view.defined = item.apart[0];
    const session = settling.data.sessions[turn.session];
    const said = session?.turns.find(([number]) => number === turn.turn);
    contextShow(parts, session, turn.turn, settling.data.context, "This page was made without --sample, so it holds no words.");
    parts.turn.dataset.role = turn.role;
    parts.words.textContent = said ? said[2] : `Turn ${turn.turn} of ${turn.session}`;
    parts.notes.replaceChildren(...viewSaid(item));
    parts.notes.hidden = parts.notes.childElementCount === 0;
    viewNote(false);
  }
  viewCodes(item);
  viewDefined(item);
  const { done, by, note } = decisionOf(item);
  parts.who.textContent = `${turn.role ? who(turn.role) : "Turn"} · ${item.book.name}${done ? ` ✓ settled by ${by}` : ""}`;
  if (parts.note.value !== note) parts.note.value = note;
  parts.noteButton.setAttribute("aria-pressed", String(note !== ""));
  const open = openCodes(item).length;
  parts.state.textContent = view.asked && open ? `${counted(open, "code")} still open.` : "";
  if (moved) comesIntoSight(view.parts.turn);
}

/** Who was unsure, and what each noted. */
function viewSaid({ book, turn }) {
  return turn.said.map((said, at) => [said[book.id] ?? said[""], settling.data.coders[at]]).filter(([said]) => said && (said.unsure || said.note))
    .map(([said, coder]) => el("p", {}, el("b", {}, coder), said.unsure ? " was unsure. " : ": ", said.note));
}

/* ---- Codes: what each gave, and what is decided ---- */

function viewCodes(item) {
  const parts = view.parts;
  const focused = document.activeElement?.dataset?.code;
  const { values } = decisionOf(item);
  const agreed = item.codes.filter((code) => !item.apart.includes(code));
  const letters = new Map([...item.apart, ...agreed].map((code, at) => [code, LETTERS[at] ?? ""]));
  item.letters = new Map([...letters].map(([code, key]) => [key, code]));
  const open = parts.codes.querySelector("details")?.open && parts.shownCodes === itemKey(item);
  parts.shownCodes = itemKey(item);
  const rows = (codes) => codes.map((code) => viewCode(item, code, values[code.column], letters.get(code)));
  const given = agreed.filter((code) => item.turn.values[code.column][0] === 1).map((code) => code.name).join(", ");
  parts.codes.replaceChildren(
    viewTake(item),
    el("div", { class: "apart" }, rows(item.apart)),
    agreed.length ? el("details", { open }, el("summary", {}, `Both agree on ${counted(agreed.length, "other code")}${given ? `; given: ${given}` : ": none given"}`), rows(agreed)) : null,
  );
  if (focused) parts.codes.querySelector(`[data-code="${CSS.escape(focused)}"]`)?.focus();
}

/** Keys of codes: n is the note's. */
const LETTERS = "abcdefghijklmopqrstuvwxyz";

/** The two buttons that take over all codes of one coder. */
function viewTake(item) {
  const { values } = decisionOf(item);
  return el("div", { class: "take" }, settling.data.coders.map((coder, which) => {
    const all = item.codes.every((code) => values[code.column] === item.turn.values[code.column][which]);
    return el("button", { type: "button", "data-code": `take-${which}`, "aria-pressed": String(all), "aria-keyshortcuts": String(which + 1), onclick: () => viewTakeCoder(which) }, keycap(which + 1), ` As ${coder}`);
  }));
}

function viewCode(item, code, value, letter) {
  const [first, second] = item.turn.values[code.column].map((one, at) => el("span", { class: one ? "gave" : "gave-not" }, `${settling.data.coders[at]}: ${one ? "yes" : "no"}`));
  const text = value === null ? "open" : value ? "yes" : "no";
  const button = el("button", { type: "button", "data-code": code.column, "data-value": text, "aria-keyshortcuts": letter || null, "aria-label": `${code.name}: ${text}. Decide by hand`, onclick: () => viewByHand(code) },
    keycap(letter), el("span", { class: "name" }, code.name), el("span", { class: "value" }, text));
  const about = aboutButton(code, () => { view.defined = code; viewShow(); });
  return el("div", { class: "settle-code" }, el("div", { class: "code" }, button, about), el("p", { class: "gave-both small" }, first, second));
}

function viewDefined(item) {
  const key = view.defined?.column ?? "";
  definedShow(view.parts.defined, key, definitionOf(item.codes.includes(view.defined) ? view.defined : null).flat());
}

/* ---- What is done ---- */

function viewTakeCoder(which) {
  settlingTakeCoder(viewItem(), which);
  announce(`As ${settling.data.coders[which]}`);
  viewShow();
}

/** Open becomes yes, yes becomes no, no becomes yes. */
function viewByHand(code) {
  const value = decisionOf(viewItem()).values[code.column] === 1 ? 0 : 1;
  settlingSet(viewItem(), code, value);
  view.defined = code;
  announce(`${code.name}: ${value ? "yes" : "no"}`);
  viewShow();
}

function viewNote(open) {
  if (noteOpens(view.parts, open)) viewShow();
}

function viewMove(step) {
  settlingGo(settling.at + step);
  view.message = "";
  view.asked = false;
  viewShow(true);
}

function viewDone() {
  const item = viewItem();
  view.asked = true;
  if (openCodes(item).length) {
    viewShow();
    return;
  }
  if (!settling.by) {
    viewWho(viewDone);
    return;
  }
  const { done, by } = decisionOf(item);
  settlingChange(item, { done: true, by: done ? by : settling.by });
  viewMove(1);
}

function viewAction(event, key) {
  const ended = settling.at >= settling.items.length;
  if (event.key === "ArrowLeft") return () => viewMove(-1);
  if (event.key === "ArrowRight" && !ended) return () => viewMove(1);
  if (event.key === "Enter") return ended || entersItself(event.target) ? null : () => { if (!event.repeat) viewDone(); };
  if (event.key === "?") return () => view.parts.help.showModal();
  if (!settling.letters || ended || event.repeat) return null;
  const code = viewItem().letters.get(key);
  if (code) return () => viewByHand(code);
  return { 1: () => viewTakeCoder(0), 2: () => viewTakeCoder(1), n: () => viewNote(true) }[key] ?? null;
}

function viewDownload() {
  settledDownload();
  const open = settlingOpen().length;
  tellHandedOut("settled.csv", open
    ? `${counted(open, "difference")} not settled yet: their turns are not in it. These are the hard ones, so compute no rates before they are settled.` : "All differences are settled in it.");
}

function viewEnd(moved) {
  const { end } = view.parts;
  const open = settlingOpen().length;
  const turns = settling.data.turns.length;
  const head = open ? `${counted(open, "difference")} still to settle` : settling.items.length ? `All ${settling.items.length} differences are settled` : "The two differ on nothing";
  end.replaceChildren(...[
    el("h2", {}, head),
    open ? el("p", {}, el("button", { type: "button", class: "main", onclick: () => { settlingResume(); viewShow(true); } }, "Next open")) : null,
    el("p", {}, `settled.csv holds the ${counted(turns, "turn")} that both coded, those on which they agreed too${open ? ", but no open ones" : ""}. What you report is their agreement before anything was settled.`),
    el("p", { class: "end-next" }, el("button", { type: "button", class: "main", onclick: viewDownload }, "Download settled.csv"),
      settling.items.length ? el("button", { type: "button", onclick: () => viewMove(-1) }, "Back to the last one") : null),
  ].filter(Boolean));
  view.parts.shown = null;
  if (moved) end.focus({ preventScroll: true });
}

settlingStart(readData("data"));
viewStart();
