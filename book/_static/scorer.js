/* Order of what the search finds: chapters before the pages behind them, these before their records. */
var Scorer = {
  score: ([docname, , , , score]) =>
    score + (docname.startsWith("notebooks/") ? 12 : /^book\/(records|peers|faults|ledger)/.test(docname) ? -6 : 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
