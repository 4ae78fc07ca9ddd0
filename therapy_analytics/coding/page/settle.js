// What two coders gave, what somebody decides where they differ, and the file of it.

/** items: a turn and codebook on which they differ; settled: by item, what was decided. */
const settling = { data: null, items: [], at: 0, settled: new Map(), by: "", keeper: null, letters: true };
const SETTLED_FIELDS = ["session_id", "turn", "code", "value", "coder", "inclusion", "unsure", "note", "decided_by", "first", "second"];
const AGREED = "both agreed";

function settlingStart(data) {
  settling.data = data;
  settling.keeper = keeperOf(settlingKey());
  for (const book of data.books) {
    for (const turn of data.turns) {
      const item = { book, turn, codes: settlingCodes(book, turn) };
      item.apart = item.codes.filter((code) => differs(turn, code));
      if (item.apart.length) settling.items.push(item);
    }
  }
  settlingTake(settling.keeper.load());
  settlingResume();
}

function settlingKey() {
  return `therapy-analytics-settled-${settling.data.key}`;
}

/** The codes of a book that both gave or denied to a turn. */
function settlingCodes(book, turn) {
  return book.codes.filter((code) => code.column in turn.values);
}

function differs(turn, code) {
  const [first, second] = turn.values[code.column];
  return first !== second;
}

function itemKey({ book, turn }) {
  return JSON.stringify([book.id, turn.session, turn.turn]);
}

/** What is decided of an item: a value for each code, null where it is open. At first, what both agree on. */
function decisionOf(item) {
  const kept = settling.settled.get(itemKey(item));
  if (kept) return kept;
  const values = item.codes.map((code) => [code.column, differs(item.turn, code) ? null : item.turn.values[code.column][0]]);
  return { values: Object.fromEntries(values), done: false, by: "", note: "" };
}

function openCodes(item) {
  const { values } = decisionOf(item);
  return item.codes.filter((code) => values[code.column] === null);
}

function settlingOpen() {
  return settling.items.filter((item) => !decisionOf(item).done);
}

function settlingChange(item, change) {
  settling.settled.set(itemKey(item), { ...decisionOf(item), ...change });
  settlingKeep();
}

function settlingKeep() {
  settling.keeper.save({ version: 1, by: settling.by, settled: [...settling.settled] });
}

/** Take all codes of one coder: 0 is the first, 1 the second. */
function settlingTakeCoder(item, which) {
  settlingChange(item, { values: Object.fromEntries(item.codes.map((code) => [code.column, item.turn.values[code.column][which]])), done: false });
}

/** Decide one code by hand. A sub-code brings its parent; without a parent there are no sub-codes. */
function settlingSet(item, code, value) {
  const values = { ...decisionOf(item).values, [code.column]: value };
  const parent = item.codes.find((one) => one.column === code.parent);
  for (const one of item.codes) {
    if (value === 0 && one.parent === code.column) values[one.column] = 0;
    if (value === 1 && parent && one.column === parent.column) values[one.column] = 1;
    if (value === 1 && excludes(one, code, parent)) values[one.column] = 0;
  }
  settlingChange(item, { values, done: false });
}

function settlingGo(at) {
  settling.at = Math.min(Math.max(at, 0), settling.items.length);
}

function settlingResume() {
  const open = settling.items.findIndex((item) => !decisionOf(item).done);
  settlingGo(open < 0 ? settling.items.length : open);
}

/* ---- The file, and what was kept ---- */

/** A row for each turn and code that both coded; of an open item none. */
function settledRows() {
  const items = new Map(settling.items.map((item) => [itemKey(item), item]));
  const rows = [];
  for (const book of settling.data.books) {
    for (const turn of settling.data.turns) {
      const item = items.get(itemKey({ book, turn }));
      const decision = item ? decisionOf(item) : null;
      if (decision && !decision.done) continue;
      const unsure = turn.said.some((said) => (said[book.id] ?? said[""])?.unsure) ? 1 : 0;
      for (const code of settlingCodes(book, turn)) {
        const [first, second] = turn.values[code.column];
        const value = decision ? decision.values[code.column] : first;
        const by = first === second && value === first ? AGREED : decision.by;
        rows.push([turn.session, turn.turn, code.column, value, "settled", turn.inclusion, unsure, decision?.note ?? "", by, first, second]);
      }
    }
  }
  return rows;
}

function settledDownload() {
  download("settled.csv", csvText([SETTLED_FIELDS, ...settledRows()]));
  settling.keeper.unsaved = false;
}

function settlingTake(kept) {
  const known = new Map(settling.items.map((item) => [itemKey(item), item]));
  settling.by = String(kept?.by ?? settling.by);
  for (const [key, one] of Array.isArray(kept?.settled) ? kept.settled : []) {
    const item = known.get(key);
    if (!item || typeof one?.values !== "object" || one.values === null) continue;
    const values = Object.fromEntries(item.codes.map(({ column }) => [column, [0, 1].includes(one.values[column]) ? one.values[column] : null]));
    const done = one.done === true && Object.values(values).every((value) => value !== null);
    settling.settled.set(key, { values, done, by: String(one.by ?? ""), note: String(one.note ?? "") });
  }
}

/** Take decisions from a settled.csv of these two coders: how many items, or what is wrong. */
function settlingLoad(text) {
  const rows = csvRecords(text);
  if (!rows.length || SETTLED_FIELDS.some((name) => !(name in rows[0]))) return { problem: "That file is no settled.csv." };
  const given = new Map(rows.map((row) => [JSON.stringify([row.session_id, Number(row.turn), row.code]), row]));
  let items = 0;
  for (const item of settling.items) {
    const of = item.codes.map(({ column }) => given.get(JSON.stringify([item.turn.session, item.turn.turn, column])));
    const fits = of.every((row, at) => row && /^[01]$/.test(row.value) && item.turn.values[item.codes[at].column].join() === `${row.first},${row.second}`);
    if (!fits) continue;
    const by = of.find((row) => row.decided_by !== AGREED)?.decided_by ?? "";
    settling.settled.set(itemKey(item), { values: Object.fromEntries(of.map((row) => [row.code, Number(row.value)])), done: true, by, note: of[0].note });
    items += 1;
  }
  if (items) settlingKeep();
  return items ? { items } : { problem: "No decision in that file is about these two coders’ differences." };
}
