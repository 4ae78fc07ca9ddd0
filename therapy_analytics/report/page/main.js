// Which view is shown: the address after # says it (#overview, #session/ID, #session/ID/turn/12), so that the browser's
// back button and a link in a message work. Runs last; all else only defines functions.

const pageTitle = document.title;
/** What is where: the parsed overview, how far down it was read, which session was shown last. */
const page = { overview: null, scroll: 0, last: null };

/** {view: "overview", part}, {view: "session", index, turn} or that of a sheet; what is not here gives the overview. */
function readAddress(hash, overview) {
  const [view, id, word, turn] = hash.replace(/^#/, "").split("/");
  if (view === "sheet") return sheetAddress(id, decodeSafely(word ?? ""), overview) ?? { view: "overview", part: "overview" };
  if (view !== "session" || id === undefined || typeof renderSession !== "function") return { view: "overview", part: view };
  const wanted = decodeSafely(id);
  const index = overview.sessions.findIndex((session) => session.id === wanted && session.view);
  if (index < 0) return { view: "overview", part: "overview" };
  return { view: "session", index, turn: word === "turn" && /^\d+$/.test(turn ?? "") ? Number(turn) : null };
}

function decodeSafely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Show the view that the address names, and move the focus with it. */
function showAddress() {
  const wanted = readAddress(location.hash, page.overview);
  const roots = Object.fromEntries(["overview", "session", "sheet"].map((view) => [view, document.getElementById(`${view}-view`)]));
  if (wanted.view !== "overview" && !roots.overview.hidden) page.scroll = scrollY;
  const changed = page.last === null || ["view", "kind", "index"].some((key) => page.last[key] !== wanted[key]);
  for (const [view, root] of Object.entries(roots)) root.hidden = view !== wanted.view;
  document.documentElement.classList.toggle("on-sheet", wanted.view === "sheet");
  if (wanted.view === "session") showSession(roots.session, wanted);
  else if (wanted.view === "sheet") renderSheet(roots.sheet, page.overview, wanted);
  else if (!roots.overview.firstChild) renderOverview(roots.overview, page.overview);
  document.title = [...addressName(wanted), pageTitle].join(" – ");
  showViews(wanted);
  moveFocus(wanted, changed);
  page.last = wanted;
}

/** What is shown, for the title of the window. */
function addressName({ view, kind, index }) {
  if (view === "overview") return [];
  const name = kind === "counselor" ? page.overview.sheet.counselors[index].name : page.overview.sessions[index].id;
  return view === "sheet" ? [`Supervision sheet of ${name}`] : [name];
}

/** renderSession(root, overview, index, turn) is called at each change of the address; a new session finds the root empty. */
function showSession(root, { index, turn }) {
  if (root.dataset.index !== String(index)) root.replaceChildren();
  root.dataset.index = index;
  renderSession(root, page.overview, index, turn);
}

/** The navigation: back to the overview and on to the rows above and below, or the parts of the overview. */
function showViews(wanted) {
  const links = { session: () => neighbours(page.overview, wanted.index), sheet: () => sheetLinks(page.overview, wanted), overview: overviewParts }[wanted.view]();
  const items = links.map(([text, href]) => el("li", {}, el("a", { href }, text)));
  document.getElementById("views").replaceChildren(el("ul", {}, ...items));
}

/** The sessions before and after this one in the table as it was last sorted and filtered. */
function neighbours(overview, index) {
  const order = overviewOrder(overview).filter((i) => overview.sessions[i].view);
  const at = order.indexOf(index);
  const around = at < 0 ? [] : [["Before", order[at - 1]], ["Next", order[at + 1]]];
  const named = around.filter(([, i]) => i !== undefined).map(([word, i]) => [`${word}: ${overview.sessions[i].id}`, sessionHref(overview.sessions[i].id)]);
  return [["All sessions", "#overview"], ...named];
}

/** Who comes by keyboard or screen reader goes where the address goes. A turn is the session view's own matter. */
function moveFocus(wanted, changed) {
  const atStart = page.last === null;
  if (wanted.view === "session") {
    if (changed && wanted.turn === null && !atStart) toHeading(document.querySelector("#session-view h2"));
    return;
  }
  if (wanted.view === "sheet") {
    if (!atStart) toHeading(document.getElementById("sheet-title"));
    return;
  }
  const place = wanted.part && wanted.part !== "overview" ? document.getElementById(wanted.part) : null;
  if (place !== null) goTo(place);
  else if (!atStart && changed) backToRow();
}

function toHeading(heading) {
  scrollTo({ top: 0, behavior: "instant" });
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
}

function goTo(place) {
  for (let box = place.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

/** Back from a session: where the reader was, on the row that led there. */
function backToRow() {
  scrollTo({ top: page.scroll, behavior: "instant" });
  const row = page.last.kind === "counselor" ? null : document.querySelector(`#overview-view a[data-session="${page.last.index}"]`);
  (row ?? document.querySelector("#overview-view h2")).focus({ preventScroll: true });
}

/** A session is printed with its folds open; of the overview, paper shows what is open on the screen. */
function openForPrint() {
  for (const box of document.querySelectorAll("#session-view details:not([open])")) {
    box.open = true;
    box.dataset.closed = "";
  }
}

function closeAfterPrint() {
  for (const box of document.querySelectorAll("details[data-closed]")) {
    box.open = false;
    delete box.dataset.closed;
  }
}

function skipToMain(event) {
  // The address says which view is shown: a jump must not change it.
  event.preventDefault();
  const main = document.getElementById("main");
  main.focus({ preventScroll: true });
  main.scrollIntoView();
}

function start() {
  page.overview = readData("overview");
  history.scrollRestoration = "manual";
  document.querySelector(".skip").addEventListener("click", skipToMain);
  addEventListener("hashchange", showAddress);
  addEventListener("beforeprint", openForPrint);
  addEventListener("afterprint", closeAfterPrint);
  showAddress();
}

start();
