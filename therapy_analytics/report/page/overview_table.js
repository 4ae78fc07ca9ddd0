// A table that is sorted by its heads, filtered and given other columns without being built anew: a row and a cell are
// made once, when first shown, and then moved, so that two thousand sessions stay quick.

/** So many rows at first; the rest on request. Layout, not sorting, is what takes time beyond. */
const ROWS_AT_ONCE = 300;
/** From so many rows on the table scrolls in its own region, with its head in sight. */
const MANY_ROWS = 40;

/**
 * What a table knows. A column is {key, label, value(row), cell(row), numeric, measure}: `value` is sorted by (null
 * goes last), `cell` gives what stands in the cell, `measure` (or null) has its meaning told on demand. The first column
 * names the row.
 */
function newTable(caption, rows) {
  const [head, body] = [el("tr"), el("tbody")];
  const node = el("table", { class: "sortable" }, el("caption", { class: "unseen" }, caption), el("thead", {}, head), body);
  const more = el("div", { class: "more" });
  const order = rows.map((_, i) => i);
  return { node, head, body, more, rows, lines: new Map(), columns: [], order, kept: null, sorted: null, limit: ROWS_AT_ONCE };
}

/** Give the table these columns, in this order. Cells that were made before are used again. */
function showColumns(table, columns) {
  table.columns = columns;
  table.head.replaceChildren(...columns.map((column) => tableHead(table, column)));
  // Rows that are not shown now are filled when they are.
  for (const line of table.lines.values()) line.columns = null;
  showRows(table);
}

/** The positions of the rows that pass the filter, from the top down, also those beyond the limit. */
function keptRows({ order, kept }) {
  return kept === null ? order : order.filter((i) => kept[i]);
}

function showRows(table) {
  const all = keptRows(table);
  const lines = all.slice(0, table.limit).map((i) => tableLine(table, i));
  table.node.classList.toggle("many", lines.length > MANY_ROWS);
  table.body.replaceChildren(...lines);
  table.more.replaceChildren(...(all.length > table.limit ? moreButtons(table, all.length) : []));
}

function moreButtons(table, total) {
  const grow = (limit) => () => { table.limit = limit; showRows(table); };
  const rest = Math.min(ROWS_AT_ONCE, total - table.limit);
  return [el("span", { class: "quiet small" }, `The first ${table.limit} of ${total} rows are shown. `),
    el("button", { type: "button", onclick: grow(table.limit + rest) }, `Show ${rest} more`), " ",
    el("button", { type: "button", onclick: grow(Infinity) }, "Show all rows")];
}

/** The row at position `i`, with the columns of now. */
function tableLine(table, i) {
  if (!table.lines.has(i)) table.lines.set(i, { node: el("tr"), cells: new Map(), columns: null });
  const line = table.lines.get(i);
  if (line.columns !== table.columns) {
    line.node.replaceChildren(...table.columns.map((column, j) => tableCell(line, column, table.rows[i], j === 0)));
    line.columns = table.columns;
  }
  return line.node;
}

function tableCell({ cells }, column, row, first) {
  if (!cells.has(column.key)) {
    cells.set(column.key, first ? el("th", { scope: "row" }, column.cell(row)) : el("td", { class: column.numeric ? "num" : null }, column.cell(row)));
  }
  return cells.get(column.key);
}

function tableHead(table, column) {
  const sorted = table.sorted?.key === column.key ? table.sorted.direction : null;
  const label = sentence(column.label);
  // A head that is repeated on the next sheet loses its buttons: paper has the plain words.
  const onPaper = el("span", { class: "on-paper", "aria-hidden": "true" }, label);
  const sorter = el("button", { type: "button", class: "sorter", onclick: () => sortTable(table, column) }, el("span", {}, label), arrow(sorted));
  const attributes = { scope: "col", class: column.numeric ? "num" : null, "aria-sort": sorted ?? "none", "data-key": column.key };
  return el("th", attributes, el("div", { class: "head" }, sorter, column.measure ? meaningButton(column.measure) : null), onPaper);
}

function arrow(sorted) {
  const paths = { ascending: "M1 8L5 3L9 8Z", descending: "M1 3L5 8L9 3Z" };
  return svg("svg", { class: "arrow", width: 10, height: 11, "aria-hidden": "true" }, svg("path", { d: paths[sorted] ?? "M2 4.5L5 1L8 4.5ZM2 6.5L5 10L8 6.5Z", class: sorted ? "on" : "off" }));
}

/** Sort by the column: numbers from the highest, words from A, and the other way round the next time. */
function sortTable(table, column) {
  const start = column.numeric ? "descending" : "ascending";
  const again = table.sorted?.key === column.key;
  const direction = !again ? start : table.sorted.direction === "ascending" ? "descending" : "ascending";
  table.sorted = { key: column.key, direction };
  const values = table.rows.map(column.value);
  const sign = direction === "ascending" ? 1 : -1;
  table.order = values.map((_, i) => i).sort((a, b) => compareValues(values[a], values[b], sign) || a - b);
  showRows(table);
  const heads = [...table.head.children];
  heads.forEach((head, i) => showSorted(head, table.columns[i].key === column.key ? direction : null));
  const which = column.numeric ? { ascending: "lowest first", descending: "highest first" } : { ascending: "A to Z", descending: "Z to A" };
  announce(`Sorted by ${column.label}, ${which[direction]}.`);
}

function showSorted(head, direction) {
  head.setAttribute("aria-sort", direction ?? "none");
  head.querySelector(".arrow").replaceWith(arrow(direction));
}

const collator = new Intl.Collator("en", { numeric: true });

/** Below, above or 0, times sign; what is not defined goes last either way. */
function compareValues(a, b, sign) {
  const [noA, noB] = [a === null || a === "", b === null || b === ""];
  if (noA || noB) return noA - noB;
  return sign * (typeof a === "number" ? a - b : collator.compare(a, b));
}

/** Show the rows for which `keep` is true; the number of them. */
function filterTable(table, keep) {
  table.kept = table.rows.map(keep);
  showRows(table);
  return table.kept.filter(Boolean).length;
}

// What a measure means, on demand.

function meaningButton(measure) {
  const glyph = svg("svg", { width: 14, height: 14, viewBox: "0 0 14 14", "aria-hidden": "true" },
    svg("circle", { cx: 7, cy: 7, r: 6, class: "ring" }), svg("path", { d: "M7 6.2V10.4M7 3.4V4.8", class: "letter" }));
  return el("button", { type: "button", class: "why", "aria-haspopup": "dialog", "aria-label": `What ${measure.label} means`, onclick: () => showMeaning(measure) }, glyph);
}

function showMeaning(measure) {
  const dialog = document.getElementById("meaning") ?? meaningDialog();
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  dialog.replaceChildren(el("h2", { id: "meaning-title" }, measure.label), ...meaningParts(measure), close);
  dialog.showModal();
}

function meaningDialog() {
  const dialog = el("dialog", { id: "meaning", "aria-labelledby": "meaning-title" });
  // A click beside the box closes it, as Escape does.
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  return dialog;
}

const EVIDENCE = {
  supported: "supported: a check on real sessions came out as required. That says that it measures what its name says, not that more of it is better.",
  weak: "weak: the check on real sessions found little of what is there, or no more than counting words does.",
  untested: "untested: looked at on hand-made cases alone.",
};

function meaningParts(measure) {
  const told = [
    ["Meaning", measure.meaning],
    ["When it misleads", measure.misleads],
    ["Evidence", EVIDENCE[measure.evidence]],
    ["Unit", measure.unit === "proportion" ? "per cent; the bar's line is the 95% interval" : measure.unit],
    ["Column of sessions.csv", measure.name],
  ];
  return told.filter(([, text]) => text).map(([name, text]) => el("p", {}, el("strong", {}, `${name}: `), text));
}
