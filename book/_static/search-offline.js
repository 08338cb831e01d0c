/* Snippets for a search in a book that lies in a folder.  The search asks for the text of each page that it found; a page
   opened from a file may not, so there the texts come from one script, loaded with the first of these questions. */
"use strict";
(() => {
  if (location.protocol !== "file:") return;
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href).href;
  const ask = window.fetch.bind(window);
  let texts = null;
  const all = () => (texts = texts || new Promise((done, failed) => {
    const tag = document.createElement("script");
    tag.src = `${root}_static/search-texts.js`;
    tag.onload = () => done(window.rerunTexts);
    tag.onerror = failed;
    document.head.append(tag);
  }));
  window.fetch = (wanted, ...options) => {
    const page = new URL(wanted, location.href).href.replace(/[#?].*$/, "");
    if (!page.startsWith(root) || !page.endsWith(".html")) return ask(wanted, ...options);
    return all().then((known) => new Response(known[decodeURI(page.slice(root.length))] || ""));
  };
})();
