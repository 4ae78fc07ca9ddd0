// The training round: the agreed answer after each turn, and the agreement at the end.

const FEWEST_FOR_KAPPA = 30;
const FEWEST_OF_EITHER = 5;

/** The codes of a turn with the coder's value and the agreed one: [{code, own, agreed}]. */
function trainingPairs(round, turn) {
  const answer = answerOf(round, turn);
  return codesOf(round, turn).filter((code) => code.column in turn.answers)
    .map((code) => ({ code, own: answer.codes.includes(code.column) ? 1 : 0, agreed: turn.answers[code.column] }));
}

/** What is shown once a turn is done: where the agreed answer differs. */
function trainingReveal(round, turn) {
  const pairs = trainingPairs(round, turn);
  const apart = pairs.filter(({ own, agreed }) => own !== agreed);
  const names = pairs.filter(({ agreed }) => agreed).map(({ code }) => code.name).join(", ");
  const head = apart.length ? `You differ from the agreed answer on ${counted(apart.length, "code")}` : "You gave the agreed answer";
  return [
    el("h3", { class: apart.length ? "differs" : "agrees" }, apart.length ? "≠ " : "✓ ", head),
    el("p", {}, "Agreed: ", el("strong", {}, names || "none of these"), "."),
    apart.length ? el("ul", {}, apart.map(({ code, agreed }) => el("li", {}, el("b", {}, code.name), agreed ? ": you did not give it. " : ": you gave it. ", el("span", { class: "quiet" }, code.definition)))) : null,
  ];
}

/** How far the coder agrees with the agreed answers, by code and over all. */
function trainingTable(round) {
  const pairs = round.turns.filter((turn) => answerOf(round, turn).done).flatMap((turn) => trainingPairs(round, turn));
  const rows = round.book.codes.map((code) => [code.name, pairs.filter((one) => one.code === code)]).filter(([, own]) => own.length);
  const cells = ([name, own]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "num" }, own.length),
    el("td", { class: "num" }, own.filter(({ agreed }) => agreed).length), el("td", { class: "num" }, own.filter((one) => one.own).length),
    el("td", { class: "num" }, percent(own.filter((one) => one.own === one.agreed).length / own.length)), el("td", { class: "num" }, kappaText(own)));
  const head = ["Code", "Turns", "Agreed: yes", "You: yes", "Same", "Kappa"].map((name, at) => el("th", { scope: "col", class: at ? "num" : null }, name));
  return [
    scrollRegion("Agreement by code", el("table", { class: "plain" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows.map(cells), cells(["All decisions together", pairs])))),
    el("p", { class: "quiet small" }, `Kappa is agreement corrected for chance agreement. There is none for fewer than ${FEWEST_FOR_KAPPA} turns, nor where you or the agreed answers have the code, or lack it, fewer than ${FEWEST_OF_EITHER} times. Of so few turns every number is rough: look at the codes on which you differed.`),
  ];
}

/** Cohen's kappa of pairs of values, as text; a dash where it is not defined or rests on too few turns. */
function kappaText(pairs) {
  const n = pairs.length;
  const share = (test) => pairs.filter(test).length / n;
  const few = [0, 1].some((value) => ["own", "agreed"].some((who) => pairs.filter((one) => one[who] === value).length < FEWEST_OF_EITHER));
  const [own, agreed, same] = [share((one) => one.own === 1), share((one) => one.agreed === 1), share((one) => one.own === one.agreed)];
  const expected = own * agreed + (1 - own) * (1 - agreed);
  return n < FEWEST_FOR_KAPPA || few ? NOTHING : ((same - expected) / (1 - expected)).toFixed(2).replace(/^(-?)0\./, "$1.");
}
