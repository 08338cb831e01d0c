/* Filter of the ledger: document, verdict and words.  Without it the whole table stays readable. */
"use strict";
(() => {
  const form = document.getElementById("ledger-filter");
  const table = document.querySelector("#ledger table");
  if (!form || !table) return;
  const COLUMN_VERDICT = 1;
  const rows = Array.from(table.tBodies[0].rows, (row) => ({
    row,
    document: row.dataset.document,
    verdict: row.cells[COLUMN_VERDICT].textContent,
    text: row.textContent.toLowerCase(),
  }));
  const controls = form.elements;
  const NAMES = ["document", "verdict", "words"];

  function remember() {
    const asked = new URLSearchParams();
    for (const name of NAMES) if (controls[name].value) asked.set(name, controls[name].value);
    const query = asked.toString();
    // A page opened from a file may not change its address; the filter works all the same.
    try { history.replaceState(null, "", query ? `?${query}` : location.pathname); } catch { /* file: */ }
  }

  function apply() {
    const words = controls.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const each of rows) {
      const wanted = (!controls.document.value || each.document === controls.document.value)
        && (!controls.verdict.value || each.verdict === controls.verdict.value)
        && words.every((word) => each.text.includes(word));
      each.row.hidden = !wanted;
      count += wanted;
    }
    form.querySelector("output").textContent = `${count} of ${rows.length} claims`;
  }

  const asked = new URLSearchParams(location.search);
  for (const name of NAMES) {
    const value = asked.get(name);
    const known = name === "words" || Array.from(controls[name].options, (o) => o.value).includes(value);
    if (value && known) controls[name].value = value;
  }
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { apply(); remember(); }, 80);
  });
  form.addEventListener("reset", () => setTimeout(() => { apply(); remember(); }, 0));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  apply();
})();
