/* On a phone the contents of a page close when a section is chosen. */
document.getElementById("pst-secondary-sidebar-modal")?.addEventListener("click", (event) => {
  if (event.target.closest('a[href^="#"]')) event.currentTarget.close();
});

/* A table that is wider than its page is shown row by row on a phone, each cell with the name of its column. */
const phone = matchMedia("(max-width: 480px)");
const byRows = () => {
  if (!phone.matches) return;
  for (const table of document.querySelectorAll("article table:not(.rerun-rows)")) {
    const frame = table.closest("div.rerun-table") ?? table;
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.innerText.trim());
    if (!heads.length || table.closest("#ledger") || !frame.clientWidth || frame.scrollWidth <= frame.clientWidth + 1) continue;
    table.classList.add("rerun-rows");
    for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, n) => { cell.dataset.head = heads[n] ?? ""; });
  }
};

/* A link to something folded opens it. */
const unfold = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const folds = [];
  for (let one = target.closest("details"); one; one = one.parentElement.closest("details")) folds.push(one);
  if (folds.every((one) => one.open)) return;
  folds.forEach((one) => { one.open = true; });
  target.scrollIntoView();
};

unfold();
// at once, and again when fonts, style sheets or scripts of the page have changed what fits
const article = document.querySelector("article");
if (article) new ResizeObserver(byRows).observe(article);
addEventListener("hashchange", unfold);
addEventListener("toggle", byRows, true);
phone.addEventListener("change", byRows);
