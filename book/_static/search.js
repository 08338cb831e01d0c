/* The search page: text before tables and code, their cells apart, no words of buttons; marks only on a page that was chosen. */
(() => {
  "use strict";
  const NOISE = ".headerlink, script, style, summary, button, svg, .rerun-tools, .rerun-number, #jb-print-docs-body, #searchbox";

  /* The text of a page or of one of its sections, prose first. */
  const said = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(NOISE).forEach((one) => one.remove());
    page.querySelectorAll("td, th, li").forEach((one) => one.append(" \u00b7 "));
    page.querySelectorAll("p, div, dt, dd, figcaption > *, small, h1, h2, h3, h4").forEach((one) => one.append(" "));
    page.querySelectorAll("dd").forEach((one) => one.prepend(" \u00b7 "));
    const main = page.querySelector("[role=main]") ?? page.body;
    const part = (anchor && main.querySelector(anchor)) || main;
    const others = [...part.querySelectorAll("table, pre")].map((one) => (one.remove(), one.textContent));
    return [part.textContent, ...others].join(" ").replace(/\s+/g, " ");
  };

  if (typeof Search !== "undefined") Search.htmlToText = said;

  let chosen = false;
  document.addEventListener("click", (event) => { chosen ||= Boolean(event.target.closest?.("#search-results a")); }, true);
  addEventListener("pagehide", () => { if (!chosen) localStorage.removeItem("sphinx_highlight_terms"); });
})();
