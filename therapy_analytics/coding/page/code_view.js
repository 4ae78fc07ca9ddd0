// What a coder sees: the turns before, the turn, the codes with their keys, and the bar at the foot.

const view = { parts: {}, defined: null, message: "", clearing: false, empty: false, again: false };
const NONE = {
  column: "none", name: "None of these", definition: "No code of this list fits the turn. It then counts as coded, without any of them.",
  examples: [], counter_examples: [],
};

function viewStart() {
  const parts = view.parts;
  parts.top = document.getElementById("top");
  parts.main = document.getElementById("main");
  parts.help = helpDialog([
    [["1", "a", "…"], "give the code with this key, or take it away"], [["Shift", "1", "…"], "show what the code means"],
    [["0"], "none of the others"], [["Enter"], "done: on to the next turn"], [["←", "→"], "back and forward"],
    [["Home", "End"], "to the first turn, and to the end of the list"],
    [["u"], "unsure, or sure again"], [["n"], "write a note; Enter or Esc ends it"], [["?"], "this list"],
  ], (on) => { coding.letters = on; });
  viewTop();
  viewTurnParts();
  keysAct(viewAction);
  focusReturns(() => (view.parts.grid.hidden ? view.parts.end : view.parts.turn));
  fromOtherTabs(codingKey(), (kept) => { codingTake(kept); viewShow(); });
  viewShow();
}

/* ---- The head ---- */

function viewTop() {
  const parts = view.parts;
  parts.book = el("h1", {});
  parts.count = el("span", { class: "count" });
  parts.progress = el("progress", { "aria-label": "Turns coded in this round", max: 1, value: 0 });
  parts.saved = el("span", { class: "saved" });
  parts.open = el("button", { type: "button", onclick: viewResume }, "Next uncoded");
  parts.unsureNext = el("button", { type: "button", onclick: viewNextUnsure });
  parts.download = el("button", { type: "button", "aria-label": `Download ${coding.data.file}`, onclick: viewDownload }, "Download");
  const load = fileButton("Load saved codes…", (text) => {
    const { turns, problem } = codingLoad(text);
    codingResume();
    view.again = false;
    viewShow();
    tell(problem ?? `${counted(turns, "turn")} taken from the file.`);
  });
  const help = el("button", { type: "button", onclick: () => parts.help.showModal() }, "Keys ", keycap("?"));
  parts.rounds = el("nav", { class: "rounds", "aria-label": "Rounds" });
  parts.message = el("p", { class: "notice message", hidden: true });
  parts.before = el("p", { class: "notice message before" });
  parts.top.append(
    el("div", { class: "work-head" }, el("div", { class: "work-title" }, parts.book, parts.rounds), el("div", { class: "work-progress" }, parts.progress, parts.count, parts.saved)),
    el("div", { class: "work-tools" }, parts.open, parts.unsureNext, load, parts.download, help),
    parts.message,
    parts.before,
  );
}

/** What a coder should know before the first turn. */
function viewBefore(round) {
  const sessions = new Set(round.turns.map((turn) => turn.session)).size;
  return `Before you begin: ${counted(round.turns.length, "turn")} of ${counted(sessions, "session")}, each after up to ${coding.data.context} turns before it. `
    + "Give the turn every code that fits it, then Done. Code what it does, however well or badly done you find it. Do not talk with another coder about these turns before both of you are done. "
    + "What people say here can be distressing: stop whenever you like, all is kept.";
}

function viewTopShow() {
  const parts = view.parts;
  const round = codingRound();
  const done = round.turns.length - codingOpen(round).length;
  parts.book.textContent = `${round.training ? "Training: " : ""}${round.book.name}`;
  parts.progress.max = round.turns.length || 1;
  parts.progress.value = done;
  const sessions = [...new Set(round.turns.map((turn) => turn.session))];
  const at = coding.at < round.turns.length ? ` · session ${sessions.indexOf(codingTurn().session) + 1} of ${sessions.length}` : "";
  parts.count.textContent = `${done} of ${round.turns.length} done${at}`;
  parts.saved.textContent = coding.keeper.trouble ? "" : coding.keeper.saved ? `✓ Kept in this browser, ${coding.keeper.saved}` : "Codes are kept in this browser";
  const unsure = codingUnsure(round).length;
  parts.unsureNext.textContent = `Review unsure (${unsure})`;
  parts.unsureNext.disabled = unsure === 0;
  parts.open.disabled = done === round.turns.length;
  messageShow(parts, coding.keeper);
  parts.before.hidden = round.training || done > 0;
  if (!parts.before.hidden) parts.before.textContent = viewBefore(round);
  parts.rounds.hidden = coding.rounds.length < 2;
  parts.rounds.replaceChildren(...coding.rounds.map((one, number) => el("button", {
    type: "button", "aria-current": number === coding.round ? "step" : null, onclick: () => viewRound(number),
  }, `${one.training ? "training " : ""}${one.book.id}${codingOpen(one).length ? "" : " ✓"}`)));
}

function viewRound(number) {
  coding.round = number;
  view.defined = null;
  viewResume();
}

function viewResume() {
  codingResume();
  viewGo(coding.at);
}

/** Go to the next turn that is marked unsure. From there, Done goes on to the one after it, and then to the end. */
function viewNextUnsure() {
  const unsure = codingUnsure(codingRound());
  if (!unsure.length) return;
  codingGo(unsure.find((at) => at > coding.at) ?? unsure[0]);
  view.again = true;
  viewShow(true);
}

function viewDownload() {
  codingDownload();
  const rounds = coding.rounds.filter((round) => !round.training);
  const [all, open] = [rounds.flatMap((round) => round.turns), rounds.flatMap(codingOpen)];
  tellHandedOut(coding.data.file, open.length ? `${counted(open.length, "turn")} of ${all.length} are not coded yet.` : "All turns are in it.");
}

/* ---- The turn and its codes ---- */

function viewTurnParts() {
  const parts = view.parts;
  turnParts(parts);
  parts.noted = el("p", { class: "noted", hidden: true });
  parts.turn.append(parts.noted);
  parts.reveal = el("section", { class: "reveal", role: "region", tabindex: 0, "aria-label": "The agreed answer", hidden: true });
  parts.codes = el("section", { class: "codes", "aria-label": "Codes" });
  parts.unsure = el("button", { type: "button", "aria-pressed": "false", "aria-keyshortcuts": "u", onclick: viewUnsure }, "Unsure ", keycap("u"));
  noteParts(parts, "Your note (own words, no names)", (note) => codingChange({ note }), viewNote);
  parts.done = el("button", { type: "button", class: "main done", "aria-keyshortcuts": "Enter", onclick: viewDone });
  parts.state = el("span", { class: "state", role: "status" });
  parts.bar = el("div", { class: "work-bar", role: "group", "aria-label": "This turn" }, parts.noteBox, moveButtons(viewMove), parts.unsure, parts.noteButton, parts.state, parts.done);
  parts.left = el("div", { class: "work-left" }, parts.about, parts.context, parts.turn, parts.reveal);
  parts.right = el("div", { class: "work-right" }, parts.codes, parts.defined);
  parts.end = el("section", { class: "end", tabindex: -1 });
  parts.grid = el("div", { class: "work-grid" }, parts.left, parts.right);
  parts.main.append(parts.grid, parts.end, parts.bar);
}

/** Bring all up to date; `moved` where another turn is shown now. */
function viewShow(moved = false) {
  const round = codingRound();
  const ended = coding.at >= round.turns.length;
  const parts = view.parts;
  viewTopShow();
  parts.grid.hidden = ended;
  parts.bar.hidden = ended;
  parts.end.hidden = !ended;
  if (ended) viewEnd(round, moved);
  else viewTurn(round, codingTurn(), moved);
}

function viewTurn(round, turn, moved) {
  const parts = view.parts;
  const key = answerKey(round, turn);
  if (parts.shown !== key) {
    parts.shown = key;
    const { turns } = round.sessions[turn.session];
    view.clearing = view.empty = false;
    contextShow(parts, round.sessions[turn.session], turn.turn, coding.data.context);
    parts.who.textContent = who(turn.role);
    parts.turn.dataset.role = turn.role;
    parts.words.textContent = turns.find(([number]) => number === turn.turn)[2];
    parts.turn.scrollTop = 0;
    viewCodes(round, turn);
    viewNote(false);
  }
  viewAnswer(round, turn);
  viewDefined(round, turn);
  if (moved) comesIntoSight(view.parts.turn);
}

function viewCodes(round, turn) {
  const groups = families(codesOf(round, turn), turn.role).map(([main, subs]) => el("div", { class: "family", role: "group", "aria-label": main.name },
    viewCode(main), subs.length ? el("div", { class: "subs" }, subs.map(viewCode)) : null));
  const none = restOf(round, turn) ? null : el("div", { class: "family none" }, el("div", { class: "code" }, el("button", { type: "button", "data-none": true, "aria-pressed": "false", "aria-keyshortcuts": "0", onclick: viewNone },
    keycap("0"), el("span", { class: "name" }, NONE.name)), aboutButton(NONE, () => viewDefine(NONE, true))));
  const n = codesOf(round, turn).length;
  view.parts.codes.replaceChildren(el("div", { class: "families", "data-many": n > 8 }, groups, none));
  // Very many codes take the whole height; what one means then stands under the turn.
  (n > 14 ? view.parts.left : view.parts.right).append(view.parts.defined);
}

function viewCode(code) {
  const give = el("button", { type: "button", "data-code": code.column, "aria-pressed": "false", "aria-keyshortcuts": code.key || null, onclick: () => viewToggle(code) },
    keycap(code.key), el("span", { class: "name" }, code.name));
  const about = aboutButton(code, () => viewDefine(code, true));
  return el("div", { class: "code" }, give, about);
}

function viewAnswer(round, turn) {
  const parts = view.parts;
  const answer = answerOf(round, turn);
  const revealed = round.training && answer.done;
  for (const button of parts.codes.querySelectorAll("[data-code], [data-none]")) {
    const on = button.dataset.code ? answer.codes.includes(button.dataset.code) : answer.none;
    button.setAttribute("aria-pressed", String(on));
    button.disabled = revealed;
  }
  parts.unsure.setAttribute("aria-pressed", String(answer.unsure));
  parts.noteButton.setAttribute("aria-pressed", String(answer.note !== ""));
  if (parts.note.value !== answer.note) parts.note.value = answer.note;
  parts.noted.hidden = answer.note === "" || !parts.noteBox.hidden;
  parts.noted.textContent = `Your note: ${answer.note}`;
  parts.reveal.hidden = !revealed;
  parts.defined.hidden = revealed;
  if (revealed) parts.reveal.replaceChildren(...trainingReveal(round, turn).filter(Boolean));
  parts.done.replaceChildren(revealed || answer.done ? "Next " : "Done ", keycap("Enter"));
  const open = view.clearing ? "0 once more takes all codes of this turn away." : view.empty ? "Give a code first, or 0." : "";
  if (parts.state.textContent !== open) parts.state.textContent = open;
  parts.turn.dataset.done = String(answer.done);
  const begins = round.turns[coding.at - 1]?.session !== turn.session;
  parts.who.textContent = `${who(turn.role)}${begins && coding.at ? ` · another session, ${turn.turn ? "under way" : "from its start"}` : ""}${answer.done ? " ✓ coded" : ""}`;
}

/* ---- What a code means ---- */

function viewDefine(code, called = false) {
  view.defined = code;
  viewDefined(codingRound(), codingTurn());
  if (!called) return;
  announce(`${code.name}: ${code.definition}`);
  view.parts.defined.scrollIntoView({ block: "nearest", behavior: "instant" });
}

function viewDefined(round, turn) {
  const code = view.defined === NONE || codesOf(round, turn).includes(view.defined) ? view.defined : null;
  const hint = [el("h3", {}, round.book.name), el("p", {}, round.book.definition), el("p", { class: "quiet" }, "Shift and a code’s key, or the i beside it, show here what the code means, with examples.")];
  const key = code?.column ?? round.book.id;
  definedShow(view.parts.defined, key, code ? definitionOf(code).flat() : hint);
}

/* ---- What a coder does ---- */

function viewLocked() {
  return coding.at >= codingRound().turns.length || (codingRound().training && answerOf(codingRound(), codingTurn()).done);
}

function viewToggle(code) {
  if (viewLocked()) return;
  if (code.rest && !answerOf(codingRound(), codingTurn()).codes.includes(code.column) && viewAsksFirst()) return;
  codingToggle(code);
  const on = answerOf(codingRound(), codingTurn()).codes.includes(code.column);
  if (on) view.defined = code;
  view.clearing = view.empty = false;
  announce(`${code.name}: ${on ? "given" : "taken away"}`);
  viewShow();
}

/** Whether the turn has codes that would be taken away: the first time this is said, and nothing else happens. */
function viewAsksFirst() {
  view.clearing = answerOf(codingRound(), codingTurn()).codes.length > 0 && !view.clearing;
  if (view.clearing) viewShow();
  return view.clearing;
}

function viewNone() {
  if (viewLocked() || viewAsksFirst()) return;
  view.empty = false;
  codingChange({ codes: [], none: !answerOf(codingRound(), codingTurn()).none });
  viewShow();
}

function viewUnsure() {
  const unsure = !answerOf(codingRound(), codingTurn()).unsure;
  codingChange({ unsure });
  announce(unsure ? "Unsure" : "Sure");
  viewShow();
}

function viewNote(open) {
  if (noteOpens(view.parts, open)) viewShow();
}

function viewMove(step) {
  viewGo(coding.at + step);
}

function viewGo(at) {
  codingGo(at);
  view.message = "";
  view.again = false;
  viewShow(true);
}

function viewDone() {
  const round = codingRound();
  const before = answerOf(round, codingTurn()).done;
  view.message = "";
  view.empty = !codingDone();
  // In training the agreed answer is seen before one goes on.
  if (view.empty) viewShow();
  else if (round.training && !before) {
    viewShow();
    view.parts.reveal.scrollIntoView({ block: "nearest", behavior: "instant" });
  } else if (view.again) viewAgain();
  else viewMove(1);
}

/** While turns marked unsure are looked at again: on to the next of them, after the last to the end. */
function viewAgain() {
  if (codingUnsure(codingRound()).some((at) => at > coding.at)) viewNextUnsure();
  else viewGo(codingRound().turns.length);
}

function viewAction(event, key, shift) {
  const round = codingRound();
  const ended = coding.at >= round.turns.length;
  if (event.key === "ArrowLeft") return () => viewMove(-1);
  if (event.key === "ArrowRight" && !ended) return () => viewMove(1);
  if (event.key === "Home") return () => viewGo(0);
  if (event.key === "End") return () => viewGo(round.turns.length);
  // A key that is held down must not run through the turns.
  if (event.key === "Enter") return ended || entersItself(event.target) ? null : () => { if (!event.repeat) viewDone(); };
  if (event.key === "?" ) return () => view.parts.help.showModal();
  if (!coding.letters || ended || event.repeat) return null;
  const code = codesOf(round, codingTurn()).find((one) => one.key === key);
  if (code) return () => (shift ? viewDefine(code, true) : viewToggle(code));
  const none = shift ? () => viewDefine(NONE, true) : viewNone;
  return { 0: restOf(round, codingTurn()) ? null : none, u: viewUnsure, n: () => viewNote(true) }[key] ?? null;
}

/* ---- The end of a round ---- */

function viewEnd(round, moved) {
  const { end } = view.parts;
  const open = codingOpen(round);
  const next = coding.rounds[coding.round + 1];
  const head = open.length ? `${counted(open.length, "turn")} still to code` : round.training ? "The training round is done" : `All ${round.turns.length} turns are coded`;
  const on = next ? el("button", { type: "button", class: "main", onclick: () => viewRound(coding.round + 1) }, `Go on: ${next.training ? "training, " : ""}${next.book.name}`) : null;
  const unsure = codingUnsure(round).length;
  end.replaceChildren(...[
    el("h2", {}, head),
    open.length ? el("p", {}, el("button", { type: "button", class: "main", onclick: viewResume }, "Next uncoded turn")) : null,
    ...(round.training ? trainingTable(round) : []),
    !round.training && unsure ? el("p", {}, `${counted(unsure, "turn is", "turns are")} marked unsure. `, el("button", { type: "button", onclick: viewNextUnsure }, "Look at them again")) : null,
    !round.training && !next && !open.length ? el("p", {}, "Download the file and hand it to whoever leads the study. Until the other coder is done, too, do not talk about these turns.") : null,
    round.training ? null : viewAnswers(round),
    el("p", { class: "end-next" }, on, next || round.training ? null : el("button", { type: "button", class: "main", onclick: viewDownload }, `Download ${coding.data.file}`),
      el("button", { type: "button", onclick: () => viewMove(-1) }, "Back to the last turn")),
  ].filter(Boolean));
  view.parts.shown = null;
  if (moved) end.focus({ preventScroll: true });
}

/** All answers of a round in a table, each with a button to its turn. */
function viewAnswers(round) {
  const rows = round.turns.map((turn, at) => {
    const { codes, none, done, unsure, note } = answerOf(round, turn);
    const names = codesOf(round, turn).filter((code) => codes.includes(code.column)).map((code) => code.name).join(", ");
    const go = el("button", { type: "button", "aria-label": `Go to turn ${at + 1}`, onclick: () => viewGo(at) }, at + 1);
    return el("tr", {}, el("td", {}, go), el("td", {}, who(turn.role)), el("td", {}, done ? names || (none ? NONE.name : "") : "not coded yet"), el("td", {}, unsure ? "unsure" : ""), el("td", {}, note));
  });
  const head = el("tr", {}, ["Turn", "Speaker", "Codes", "Unsure", "Note"].map((name) => el("th", { scope: "col" }, name)));
  return el("details", { class: "answers" }, el("summary", {}, "All your codes"), scrollRegion("All your codes", el("table", { class: "plain" }, el("thead", {}, head), el("tbody", {}, rows))));
}

codingStart(readData("data"));
viewStart();
