// The codes of one coder: rounds (a training round and a round for each codebook), answers, the file.

/** rounds: in order; round, at: where the coder is; answers: by round, session and turn. */
const coding = { data: null, rounds: [], round: 0, at: 0, answers: new Map(), keeper: null, letters: true };
const CODING_FIELDS = ["session_id", "turn", "code", "value", "coder", "inclusion", "unsure", "note"];

function codingStart(data) {
  coding.data = data;
  coding.keeper = keeperOf(codingKey());
  for (const book of data.books) {
    const roles = new Set(book.codes.map((code) => code.role));
    const of = (turns) => turns.filter((turn) => roles.has(turn.role));
    const trained = of(data.training?.books[book.id] ?? []);
    if (trained.length) coding.rounds.push({ book, training: true, turns: trained, sessions: data.training.sessions });
    coding.rounds.push({ book, training: false, turns: of(data.turns), sessions: data.sessions });
  }
  codingTake(coding.keeper.load());
  coding.round = Math.max(0, coding.rounds.findIndex((round) => codingOpen(round).length));
  codingResume();
}

/** A key of this page's own: of the sample, the coder and the codebook. */
function codingKey() {
  return `therapy-analytics-codes-${coding.data.sample}-${coding.data.file}`;
}

function codingRound() {
  return coding.rounds[coding.round];
}

function codingTurn() {
  return codingRound().turns[coding.at];
}

function answerKey(round, turn) {
  return JSON.stringify([round.training ? "training" : "codes", round.book.id, turn.session, turn.turn]);
}

function answerOf(round, turn) {
  return coding.answers.get(answerKey(round, turn)) ?? { codes: [], none: false, done: false, unsure: false, note: "" };
}

/** The codes that a turn may have in a round: those of its role. */
function codesOf(round, turn) {
  return round.book.codes.filter((code) => code.role === turn.role);
}

/** The code that stands for all that no other code of the turn's role has, if the book has one. */
function restOf(round, turn) {
  return codesOf(round, turn).find((code) => code.rest);
}

/** The places of the turns of a round that are still to be coded. */
function codingOpen(round) {
  return round.turns.map((_, at) => at).filter((at) => !answerOf(round, round.turns[at]).done);
}

function codingUnsure(round) {
  return round.turns.map((_, at) => at).filter((at) => answerOf(round, round.turns[at]).unsure);
}

/** Change the answer to the turn that is shown, and keep it. A turn without any code is open again. */
function codingChange(change) {
  const [round, turn] = [codingRound(), codingTurn()];
  const answer = { ...answerOf(round, turn), ...change };
  if (answer.codes.length) answer.none = false;
  else if (!answer.none) answer.done = false;
  coding.answers.set(answerKey(round, turn), answer);
  codingKeep();
}

function codingKeep() {
  coding.keeper.save({ version: 1, answers: [...coding.answers] });
}

/** Give the turn a code or take it away. A sub-code brings its parent; without a parent there are no sub-codes. */
function codingToggle(code) {
  const codes = codesOf(codingRound(), codingTurn());
  const on = new Set(answerOf(codingRound(), codingTurn()).codes);
  if (on.has(code.column)) {
    on.delete(code.column);
    for (const one of codes) if (one.parent === code.column) on.delete(one.column);
  } else {
    const parent = codes.find((one) => one.column === code.parent);
    for (const one of codes) if (excludes(one, code, parent)) on.delete(one.column);
    on.add(code.column);
    if (parent) on.add(parent.column);
  }
  codingChange({ codes: codes.map((one) => one.column).filter((column) => on.has(column)) });
}

/** Done with this turn; false where it has no code, and "none of these" was not said either. */
function codingDone() {
  const answer = answerOf(codingRound(), codingTurn());
  if (!answer.codes.length && !answer.none) return false;
  codingChange({ done: true });
  return true;
}

/** Go to a turn of this round; one beyond the last is its end. */
function codingGo(at) {
  coding.at = Math.min(Math.max(at, 0), codingRound().turns.length);
}

/** Go to the first turn that is still to be coded, or to the end of the round. */
function codingResume() {
  codingGo(codingOpen(codingRound())[0] ?? codingRound().turns.length);
}

/* ---- The file, and what was kept ---- */

function codingRows() {
  const { coder } = coding.data;
  const rows = [];
  for (const round of coding.rounds.filter((one) => !one.training)) {
    for (const turn of round.turns) {
      const answer = answerOf(round, turn);
      if (!answer.done) continue;
      for (const code of codesOf(round, turn)) {
        const value = answer.codes.includes(code.column) ? 1 : 0;
        rows.push([turn.session, turn.turn, code.column, value, coder, turn.inclusion, answer.unsure ? 1 : 0, answer.note]);
      }
    }
  }
  return rows;
}

function codingDownload() {
  download(coding.data.file, csvText([CODING_FIELDS, ...codingRows()]));
  coding.keeper.unsaved = false;
}

/** Take codes from what was kept: only what this page knows. */
function codingTake(kept) {
  const known = new Map(coding.rounds.flatMap((round) => round.turns.map((turn) => [answerKey(round, turn), codesOf(round, turn)])));
  for (const [key, answer] of Array.isArray(kept?.answers) ? kept.answers : []) {
    if (!known.has(key) || !Array.isArray(answer?.codes)) continue;
    const codes = known.get(key).map((code) => code.column).filter((column) => answer.codes.includes(column));
    const none = answer.none === true && !codes.length;
    coding.answers.set(key, { codes, none, done: answer.done === true && (none || codes.length > 0), unsure: answer.unsure === true, note: String(answer.note ?? "") });
  }
}

/** Take codes from a file that this page handed out: {turns} that were taken, or {problem}. */
function codingLoad(text) {
  const rows = csvRecords(text);
  if (!rows.length || CODING_FIELDS.some((name) => !(name in rows[0]))) return { problem: "That file is no file of codes from this page." };
  const others = rows.find((row) => row.coder !== coding.data.coder);
  if (others) return { problem: `That file holds codes of another coder, and this page is ${coding.data.coder}’s. Nothing was taken.` };
  const given = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.session_id, Number(row.turn)]);
    if (!given.has(key)) given.set(key, new Map());
    given.get(key).set(row.code, row);
  }
  let turns = 0;
  for (const round of coding.rounds.filter((one) => !one.training)) {
    for (const turn of round.turns) {
      const one = given.get(JSON.stringify([turn.session, turn.turn]));
      const codes = codesOf(round, turn).map((code) => code.column);
      if (!one || codes.some((column) => !/^[01]$/.test(one.get(column)?.value))) continue;
      const on = codes.filter((column) => one.get(column).value === "1");
      const { unsure, note } = one.get(codes[0]);
      coding.answers.set(answerKey(round, turn), { codes: on, none: !on.length, done: true, unsure: unsure === "1", note });
      turns += 1;
    }
  }
  if (turns) codingKeep();
  return turns ? { turns } : { problem: "No turn of that file is one of this page." };
}
