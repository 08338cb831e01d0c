/* Text of found pages for the snippets of the search: the article alone, without the lists of headings around it.  A page
   opened from a file may not read another one; there the texts come from one script, loaded with the first question. */
"use strict";
(() => {
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
  const article = (html) => {
    const main = document.createElement("div");
    main.setAttribute("role", "main");
    main.append(...[new DOMParser().parseFromString(html, "text/html").querySelector("article.bd-article")].filter(Boolean));
    main.querySelectorAll("script, style, svg, .headerlink").forEach((each) => each.remove());
    return new XMLSerializer().serializeToString(main);
  };
  window.fetch = (wanted, ...options) => {
    const page = new URL(wanted, location.href).href.replace(/[#?].*$/, "");
    if (!page.startsWith(root) || !page.endsWith(".html")) return ask(wanted, ...options);
    const text = location.protocol === "file:"
      ? all().then((known) => known[decodeURI(page.slice(root.length))] || "")
      : ask(wanted, ...options).then((answer) => answer.text()).then(article);
    return text.then((found) => new Response(found));
  };
})();
