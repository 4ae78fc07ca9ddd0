// What a coder sees: the turns before, the turn, the codes with their keys, and the bar at the foot.

const view = { parts: {}, defined: null, message: "" };

function viewStart() {
  const parts = view.parts;
  parts.top = document.getElementById("top");
  parts.main = document.getElementById("main");
  parts.help = helpDialog([
    [["1", "a", "…"], "give the code with this key, or take it away"], [["Shift", "1", "…"], "show what the code means"],
    [["0"], "none of these codes"], [["Enter"], "done: on to the next turn"], [["←", "→"], "back and forward"],
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
  parts.open = el("button", { type: "button", onclick: () => { codingResume(); viewShow(true); } }, "Next open");
  parts.unsureNext = el("button", { type: "button", onclick: viewNextUnsure });
  parts.download = el("button", { type: "button", "aria-label": `Download ${coding.data.file}`, onclick: () => { codingDownload(); viewShow(); } }, "Download");
  const load = fileButton("Load a file…", (text) => {
    const { turns, problem } = codingLoad(text);
    view.message = problem ?? `${counted(turns, "turn")} taken from the file.`;
    codingResume();
    viewShow();
    announce(view.message);
  });
  const help = el("button", { type: "button", onclick: () => parts.help.showModal() }, "Keys ", keycap("?"));
  parts.rounds = el("nav", { class: "rounds", "aria-label": "Rounds" });
  parts.message = el("p", { class: "notice message", hidden: true });
  parts.top.append(
    el("div", { class: "work-head" }, el("div", { class: "work-title" }, parts.book, parts.rounds), el("div", { class: "work-progress" }, parts.progress, parts.count, parts.saved)),
    el("div", { class: "work-tools" }, parts.open, parts.unsureNext, load, parts.download, help),
    parts.message,
  );
}

function viewTopShow(round) {
  const parts = view.parts;
  const done = round.turns.length - codingOpen(round).length;
  parts.book.textContent = `${round.training ? "Training: " : ""}${round.book.name}`;
  parts.progress.max = round.turns.length || 1;
  parts.progress.value = done;
  const sessions = [...new Set(round.turns.map((turn) => turn.session))];
  const at = coding.at < round.turns.length ? ` · session ${sessions.indexOf(codingTurn().session) + 1} of ${sessions.length}` : "";
  parts.count.textContent = `${done} of ${round.turns.length} done${at}`;
  parts.saved.textContent = coding.saved ? `✓ Kept in this browser, ${coding.saved}` : "";
  const unsure = codingUnsure(round).length;
  parts.unsureNext.textContent = `Next unsure (${unsure})`;
  parts.unsureNext.hidden = unsure === 0;
  parts.open.hidden = done === round.turns.length;
  parts.message.textContent = coding.keeper.trouble || view.message;
  parts.message.hidden = parts.message.textContent === "";
  parts.rounds.hidden = coding.rounds.length < 2;
  parts.rounds.replaceChildren(...coding.rounds.map((one, number) => el("button", {
    type: "button", "aria-current": number === coding.round ? "step" : null, onclick: () => viewRound(number),
  }, `${one.training ? "training " : ""}${one.book.id}${codingOpen(one).length ? "" : " ✓"}`)));
}

function viewRound(number) {
  coding.round = number;
  view.defined = null;
  codingResume();
  viewShow(true);
}

function viewNextUnsure() {
  const unsure = codingUnsure(codingRound());
  if (!unsure.length) return;
  codingGo(unsure.find((at) => at > coding.at) ?? unsure[0]);
  viewShow(true);
}

/* ---- The turn and its codes ---- */

function viewTurnParts() {
  const parts = view.parts;
  turnParts(parts);
  parts.reveal = el("section", { class: "reveal", role: "region", tabindex: 0, "aria-label": "The agreed answer", hidden: true });
  parts.codes = el("section", { class: "codes", "aria-label": "Codes" });
  parts.unsure = el("button", { type: "button", "aria-pressed": "false", "aria-keyshortcuts": "u", onclick: viewUnsure }, "Unsure ", keycap("u"));
  noteParts(parts, "Your note (own words, no names)", (note) => codingChange({ note }), viewNote);
  parts.done = el("button", { type: "button", class: "main done", "aria-keyshortcuts": "Enter", onclick: viewDone });
  parts.state = el("span", { class: "state", role: "status" });
  parts.bar = el("div", { class: "work-bar", role: "group", "aria-label": "This turn" }, parts.noteBox, moveButtons(viewMove), parts.unsure, parts.noteButton, parts.state, parts.done);
  parts.left = el("div", { class: "work-left" }, parts.context, parts.turn, parts.reveal);
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
  viewTopShow(round);
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
    const turns = round.sessions[turn.session];
    parts.context.replaceChildren(...contextOf(turns, turn.turn, coding.data.context));
    parts.who.textContent = who(turn.role);
    parts.turn.dataset.role = turn.role;
    parts.words.textContent = turns.find(([number]) => number === turn.turn)[2];
    parts.context.scrollTop = parts.context.scrollHeight;
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
  const none = el("div", { class: "family none" }, el("div", { class: "code" }, el("button", { type: "button", "data-none": true, "aria-pressed": "false", "aria-keyshortcuts": "0", onclick: viewNone },
    keycap("0"), el("span", { class: "name" }, "None of these"))));
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
  parts.reveal.hidden = !revealed;
  parts.defined.hidden = revealed;
  if (revealed) parts.reveal.replaceChildren(...trainingReveal(round, turn).filter(Boolean));
  const asked = answer.none && !answer.done;
  parts.done.replaceChildren(asked ? "None of these: go on " : revealed || answer.done ? "Next " : "Done ", keycap("Enter"));
  const open = asked ? "None of these: press Enter once more." : "";
  if (parts.state.textContent !== open) parts.state.textContent = open;
  parts.turn.dataset.done = String(answer.done);
  const begins = round.turns[coding.at - 1]?.session !== turn.session;
  parts.who.textContent = `${who(turn.role)}${begins && coding.at ? " · a new session" : ""}${answer.done ? " ✓ coded" : ""}`;
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
  const code = view.defined && codesOf(round, turn).includes(view.defined) ? view.defined : null;
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
  codingToggle(code);
  const on = answerOf(codingRound(), codingTurn()).codes.includes(code.column);
  if (on) view.defined = code;
  announce(`${code.name}: ${on ? "given" : "taken away"}`);
  viewShow();
}

function viewNone() {
  if (viewLocked()) return;
  const { none } = answerOf(codingRound(), codingTurn());
  codingChange({ codes: [], none: !none });
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
  codingGo(coding.at + step);
  view.message = "";
  viewShow(true);
}

function viewDone() {
  const round = codingRound();
  const before = answerOf(round, codingTurn()).done;
  const said = codingDone();
  view.message = "";
  // In training the agreed answer is seen before one goes on.
  if (said === "none") viewShow();
  else if (round.training && !before) {
    viewShow();
    view.parts.reveal.scrollIntoView({ block: "nearest", behavior: "instant" });
  } else viewMove(1);
}

function viewAction(event, key, shift) {
  const round = codingRound();
  const ended = coding.at >= round.turns.length;
  if (event.key === "ArrowLeft") return () => viewMove(-1);
  if (event.key === "ArrowRight" && !ended) return () => viewMove(1);
  // A key that is held down must not run through the turns.
  if (event.key === "Enter") return ended || entersItself(event.target) ? null : () => { if (!event.repeat) viewDone(); };
  if (event.key === "?" ) return () => view.parts.help.showModal();
  if (!coding.letters || ended || event.repeat) return null;
  const code = codesOf(round, codingTurn()).find((one) => one.key === key);
  if (code) return () => (shift ? viewDefine(code, true) : viewToggle(code));
  return { 0: viewNone, u: viewUnsure, n: () => viewNote(true) }[key] ?? null;
}

/* ---- The end of a round ---- */

function viewEnd(round, moved) {
  const { end } = view.parts;
  const open = codingOpen(round);
  const next = coding.rounds[coding.round + 1];
  const head = open.length ? `${counted(open.length, "turn")} of this round still to code` : round.training ? "The training round is done" : `All ${round.turns.length} turns are coded`;
  const on = next ? el("button", { type: "button", class: "main", onclick: () => viewRound(coding.round + 1) }, `Go on: ${next.training ? "training, " : ""}${next.book.name}`) : null;
  const unsure = codingUnsure(round).length;
  end.replaceChildren(...[
    el("h2", {}, head),
    open.length ? el("p", {}, el("button", { type: "button", class: "main", onclick: () => { codingResume(); viewShow(true); } }, "Next open turn")) : null,
    ...(round.training ? trainingTable(round) : []),
    !round.training && unsure ? el("p", {}, `${counted(unsure, "turn is", "turns are")} marked unsure. `, el("button", { type: "button", onclick: viewNextUnsure }, "Look at them again")) : null,
    !round.training && !next && !open.length ? el("p", {}, "Download the file and hand it to whoever leads the study. Do not talk with the other coder about these turns before both of you are done.") : null,
    el("p", { class: "end-next" }, on, next || round.training ? null : el("button", { type: "button", class: "main", onclick: codingDownload }, `Download ${coding.data.file}`),
      el("button", { type: "button", onclick: () => viewMove(-1) }, "Back to the last turn")),
  ].filter(Boolean));
  view.parts.shown = null;
  if (moved) end.focus({ preventScroll: true });
}

codingStart(readData("data"));
viewStart();
