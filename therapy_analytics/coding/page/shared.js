// What the page of a coder and the page of two coders' differences share: keys, words, keeping, files.

const WHO = { therapist: "Therapist", client: "Client" };
const NOT_KEPT = "This browser keeps nothing for a page opened from disk, or in a private window. Download the file before you close the page.";

function who(role) {
  return WHO[role] ?? "Other speaker";
}

/* ---- Keys ---- */

/** Which key was pressed, as a code's key is written: a letter or digit in lower case, whatever the layout. */
function keyPressed(event) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  // With Shift, a digit key gives a sign on some keyboards; on others digits need Shift. What is typed counts first.
  if (digit && !/^\d$/.test(event.key)) return { key: digit[1], shift: event.shiftKey };
  return { key: event.key.toLowerCase(), shift: event.shiftKey && /^[a-z]$/i.test(event.key) };
}

/** Whether the keys of the page rest: something is being typed, a dialog is open, or the key belongs to the browser. */
function keysRest(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  if (document.querySelector("dialog[open]")) return true;
  return event.target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select") ?? false;
}

/** Have keys do what `action(event, key, shift)` returns, a function, or nothing. */
function keysAct(action) {
  addEventListener("keydown", (event) => {
    if (keysRest(event)) return;
    const { key, shift } = keyPressed(event);
    const act = action(event, key, shift);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/** Whether Enter belongs to what has the focus. */
function entersItself(target) {
  return (target.closest?.("button, a, summary, label, select, input") ?? null) !== null;
}

/** After a click the focus goes back to the turn, so that Enter means the turn and not the button once more. */
function focusReturns(home) {
  addEventListener("click", (event) => {
    const pressed = event.detail > 0 && event.target.closest?.("button");
    if (pressed && !document.querySelector("dialog[open]") && document.activeElement === pressed) home().focus({ preventScroll: true });
  });
}

function keycap(key) {
  return el("kbd", { "aria-hidden": "true" }, key);
}

/** A dialog with the keys of the page, and a switch that lets letters and digits rest. */
function helpDialog(rows, letters) {
  const box = el("input", { type: "checkbox", id: "letters", checked: true, onchange: () => letters(box.checked) });
  const table = el("dl", { class: "keys" }, rows.map(([keys, what]) => el("div", {}, el("dt", {}, keys.map((key) => el("kbd", {}, key))), el("dd", {}, what))));
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const dialog = el("dialog", { "aria-labelledby": "help-title" }, el("h2", { id: "help-title" }, "Keys"), table,
    el("p", {}, el("label", { for: "letters", class: "switch" }, box, "Letters and digits work as keys")), close);
  dialog.addEventListener("close", () => document.activeElement?.blur());
  document.body.append(dialog);
  return dialog;
}

/* ---- The parts of both pages ---- */

/** The turns before, the turn with its speaker, and what a code means. */
function turnParts(parts) {
  parts.about = el("p", { class: "about-session", hidden: true });
  parts.context = el("section", { class: "context", role: "region", "aria-label": "What was said before", tabindex: 0 });
  staysAtEnd(parts.context);
  parts.who = el("h2", { id: "who" });
  parts.words = el("p", { class: "words", id: "words" });
  parts.turn = el("section", { class: "turn", role: "region", tabindex: 0, "aria-labelledby": "who", "aria-describedby": "words" }, parts.who, parts.words);
  parts.defined = el("section", { class: "defined", role: "region", "aria-label": "What the code means", tabindex: 0 });
}

/** Show what is known of a session, and the turns before one of its turns; without words, why there are none. */
function contextShow(parts, session, turn, most, without = "") {
  parts.about.textContent = session?.about ?? "";
  parts.about.hidden = parts.about.textContent === "";
  parts.context.replaceChildren(...(session ? contextOf(session.turns, turn, most) : [el("p", { class: "quiet" }, without)]));
  parts.context.scrollTop = parts.context.scrollHeight;
}

/** Show why nothing can be kept, if so, and the page's message. */
function messageShow(parts, keeper) {
  parts.message.textContent = [keeper.trouble, view.message].filter(Boolean).join(" ");
  parts.message.hidden = parts.message.textContent === "";
}

/** Show a message at the head, and have it read aloud; the focus stays where it is. */
function tell(message) {
  view.message = message;
  viewTopShow();
  announce(message);
}

function tellHandedOut(file, more) {
  tell(`${file} was handed to your browser: look among your downloads. ${more}`);
}

/** Who comes by keyboard or screen reader goes on to the new turn, and on a small screen it comes into sight. */
function comesIntoSight(turn) {
  turn.focus({ preventScroll: true });
  if (matchMedia("(max-width: 63.99rem)").matches) turn.scrollIntoView({ block: "start", behavior: "instant" });
}

/** A note and its button: `changed(text)` is told each change; `toggle(open)` opens and closes it. */
function noteParts(parts, label, changed, toggle) {
  parts.note = el("input", { id: "note", type: "text", maxlength: 500, autocomplete: "off", oninput: () => changed(parts.note.value) });
  parts.note.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    toggle(false);
  });
  parts.noteBox = el("div", { class: "note", hidden: true }, el("label", { for: "note" }, label), parts.note);
  parts.noteButton = el("button", { type: "button", "aria-keyshortcuts": "n", "aria-expanded": "false", onclick: () => toggle(parts.noteBox.hidden) }, "Note ", keycap("n"));
}

/** Open or close the note; whether it was open and closes now. */
function noteOpens(parts, open) {
  const closes = !parts.noteBox.hidden && !open;
  parts.noteBox.hidden = !open;
  parts.noteButton.setAttribute("aria-expanded", String(open));
  if (open) parts.note.focus();
  else if (closes) parts.turn.focus({ preventScroll: true });
  return closes;
}

function moveButtons(move) {
  return [
    el("button", { type: "button", "aria-keyshortcuts": "ArrowLeft", onclick: () => move(-1) }, keycap("←"), " Back"),
    el("button", { type: "button", "aria-keyshortcuts": "ArrowRight", onclick: () => move(1) }, "Forward ", keycap("→")),
  ];
}

/** The button that shows what a code means. */
function aboutButton(code, show) {
  return el("button", { type: "button", class: "about", "aria-label": `What ${code.name} means`, onclick: show }, el("span", { "aria-hidden": "true" }, "i"));
}

/** Show in a box what a code means, `key`, unless it stands there already. */
function definedShow(box, key, content) {
  if (box.dataset.of === key) return;
  box.dataset.of = key;
  box.replaceChildren(...content);
  box.scrollTop = 0;
}

/* ---- Words ---- */

/** The turns before the one that is looked at, as many as the page holds. */
function contextOf(turns, turn, most) {
  const before = turns.filter(([number]) => number < turn && number >= turn - most);
  if (!before.length) return [el("p", { class: "quiet" }, turn === 0 ? "The session begins here." : "The page holds no turn before this one.")];
  const first = before[0][0] === 0 ? [el("p", { class: "quiet" }, "The session begins here.")] : [];
  return [...first, ...before.map(([, role, words]) => el("p", { class: `said ${role}` }, el("b", {}, who(role)), " ", words))];
}

/** The last words before the turn stay in sight when the box grows or shrinks. */
function staysAtEnd(box) {
  new ResizeObserver(() => { box.scrollTop = box.scrollHeight; }).observe(box);
}

/** What a code means, with what has it and what only seems to. */
function definitionOf(code) {
  if (!code) return [];
  const list = (title, items, cls) => (items.length ? [el("h4", {}, title), el("ul", { class: cls }, items.map((text) => el("li", {}, text)))] : []);
  return [el("h3", {}, code.name), el("p", {}, code.definition), list("Has it", code.examples, "has"), list("Does not have it", code.counter_examples, "has-not")];
}

/* ---- Keeping in this browser ---- */

/** What the page keeps under its own key; `saved` is the time of day at which it last did, `trouble` says why it cannot. */
function keeperOf(key) {
  const keeper = { trouble: "", saved: "", unsaved: false };
  keeper.save = (state) => {
    try {
      localStorage.setItem(key, JSON.stringify(state));
      keeper.trouble = "";
      keeper.saved = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      keeper.unsaved = false;
    } catch {
      keeper.trouble = NOT_KEPT;
      keeper.saved = "";
      keeper.unsaved = true;
    }
  };
  keeper.load = () => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "null");
    } catch {
      return null;
    }
  };
  addEventListener("beforeunload", (event) => {
    if (!keeper.unsaved) return;
    event.preventDefault();
    event.returnValue = "";
  });
  return keeper;
}

/** Call `taken` with what another tab with the same page has kept. */
function fromOtherTabs(key, taken) {
  addEventListener("storage", (event) => {
    if (event.key !== key || event.newValue === null) return;
    try {
      taken(JSON.parse(event.newValue));
    } catch {
      // What another page wrote there is none of ours.
    }
  });
}

/* ---- Files ---- */

/** The rows of a CSV file as objects by the names of its columns. */
function csvRecords(text) {
  const [head = [], ...rows] = csvRows(text.replace(/^\ufeff/, ""));
  return rows.filter((row) => row.length === head.length).map((row) => Object.fromEntries(head.map((name, at) => [name, row[at]])));
}

function csvRows(text) {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/gy;
  const rows = [[]];
  for (let found = cell.exec(text); found; found = cell.exec(text)) {
    rows.at(-1).push(csvRestored(found[1] === undefined ? found[2] : found[1].replaceAll('""', '"')));
    if (cell.lastIndex >= text.length) break;
    if (found[3] !== ",") rows.push([]);
  }
  return rows;
}

/** A sign that keeps spreadsheets from running a cell is taken off again. */
function csvRestored(cell) {
  return /^'+[=+\-@\u0000-\u001f\u007f-\u009f\uff1d\uff0b\uff0d\uff20]/.test(cell) ? cell.slice(1) : cell;
}

/** A button that asks for a file and hands its text on. */
function fileButton(text, read) {
  const input = el("input", { type: "file", accept: ".csv,text/csv", hidden: true, onchange: async () => {
    const [file] = input.files;
    if (file) read(await file.text());
    input.value = "";
  } });
  return [el("button", { type: "button", onclick: () => input.click() }, text), input];
}

/* ---- Codes under their parents ---- */

/** The codes of a role, each main code with its sub-codes: [[code, [sub-codes]], ...]. */
function families(codes, role) {
  const own = codes.filter((code) => code.role === role);
  return own.filter((code) => !code.parent).map((code) => [code, own.filter((one) => one.parent === code.column)]);
}

/** Whether a code cannot stand beside the one that is given now: what stands for the rest stands alone. */
function excludes(one, given, parent) {
  if (one.column === given.column) return false;
  if (one.rest || given.rest) return true;
  return (given.one_of !== "" && one.one_of === given.one_of) || (parent?.exclusive === "turn" && one.parent === parent.column);
}
