/* Under each figure and table: its address, the picture as SVG and PNG in print colours, and how to cite it. */
(() => {
  "use strict";
  const INK = "#1f2328", PAPER = "#ffffff", SCALE = 3;
  const about = JSON.parse(document.getElementById("rerun-about").textContent);
  const book = "Supercomputers, Rerun";

  const filled = (made, attributes = {}, text = "") => {
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    made.textContent = text;
    return made;
  };
  const element = (name, ...rest) => filled(document.createElement(name), ...rest);
  const place = (name, ...rest) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), ...rest);

  const words = (block) => {
    const caption = block.querySelector("figcaption, .rerun-caption");
    const number = caption.querySelector(".rerun-number")?.textContent.trim() ?? "";
    const title = (block.querySelector(".rerun-title") ?? caption.querySelector("strong"))?.textContent.trim() || block.dataset.name;
    return `${number} ${title}`.trim().replace(/[.:]$/, "");
  };

  /* What a figure or table rests on: places by report. */
  const rests = (block) => about.cited[block.dataset.name] ?? (about.report ? { [about.report]: [] } : {});
  const after = (block) => Object.entries(rests(block)).map(([name, places]) =>
    [about.reports[name].citation, places.filter(Boolean).join("; ")].filter(Boolean).join(", "));
  /* The entries of the reports, each with its figure, table, page or slide. */
  const entries = (block) => Object.entries(rests(block)).map(([name, places]) =>
    (places.some(Boolean) ? about.reports[name].entry.replace(/\n\}$/, `,\n  note = {${places.filter(Boolean).join("; ")}}\n}`)
      : about.reports[name].entry)).filter(Boolean);
  const source = (block) => [`${words(block)}.`, ...after(block).map((one) => `After ${one}.`),
    `${book}, ${document.title.split(" — ")[0]}.`].join(" ");

  /* What a steered figure shows at this moment, its drawings one below the other; nothing of a figure that is still. */
  const steered = (block) => {
    const drawn = [...block.querySelectorAll(".rerun-live svg")].filter((one) => one.clientWidth > 100);
    if (!drawn.length) return null;
    const whole = place("svg");
    let below = 0;
    for (const one of drawn) {
      const copy = one.cloneNode(true);
      for (const [name, value] of Object.entries({ y: below, width: one.clientWidth, height: one.clientHeight })) copy.setAttribute(name, value);
      copy.setAttribute("font-family", "sans-serif");
      copy.setAttribute("font-size", 12);
      whole.append(copy);
      below += one.clientHeight + 8;
    }
    const width = Math.max(...drawn.map((one) => one.clientWidth));
    [...block.querySelectorAll(".rerun-live .rerun-legend > span")].forEach((span, n) => {
      const across = (n % 4) * (width / 4), down = below + 18 * Math.floor(n / 4);
      const colour = getComputedStyle(span.querySelector("i")).backgroundColor;
      whole.append(place("rect", { x: across, y: down, width: 10, height: 10, fill: colour }));
      whole.append(place("text", { x: across + 14, y: down + 9, "font-size": 12, "font-family": "sans-serif", fill: INK }, span.textContent.trim()));
    });
    below += 18 * Math.ceil(block.querySelectorAll(".rerun-live .rerun-legend > span").length / 4);
    whole.setAttribute("viewBox", `0 0 ${width} ${below}`);
    return whole;
  };

  /* The picture on paper: dark on white, its title above; whose numbers these are and its source in lines below. */
  const picture = (block) => {
    const svg = steered(block) ?? block.querySelector("svg").cloneNode(true);
    const [left, top, width, height] = svg.getAttribute("viewBox").split(/[\s,]+/).map(Number);
    const room = width / 60, state = block.querySelector(".rerun-live .rerun-said")?.textContent ?? "";
    const added = svg.querySelector("[data-said]")?.dataset.said ?? "";
    const lines = (texts, most) => texts.filter(Boolean).flatMap((text) => text.match(new RegExp(`.{1,${most}}(?:\\s|$)`, "g")));
    const text = (name) => block.querySelector(`.rerun-${name}`)?.textContent.trim() ?? "";
    const large = Math.min(width / 31, 18), head = lines([text("title")], Math.floor(1.6 * width / large));
    const said = lines([text("key"), state, added, text("small"), `${text("number")} ${book}.`.trim(), ...after(block).map((one) => `After ${one}.`)], 110);
    const above = (1.3 * head.length + 0.4) * large;
    const whole = { x: left, y: top - above, width, height: above + height + (1.3 * said.length + 0.5) * room };
    svg.setAttribute("viewBox", Object.values(whole).join(" "));
    svg.setAttribute("width", whole.width);
    svg.setAttribute("height", whole.height);
    svg.setAttribute("style", `color: ${INK}; stroke-linejoin: round; stroke-linecap: butt`);
    svg.prepend(place("rect", { ...whole, fill: PAPER }));
    const style = { x: left + 2, "font-size": room, fill: INK, "font-family": "sans-serif" };
    head.forEach((text, line) => svg.append(place("text", { ...style, "font-size": large, "font-weight": "bold", y: top - above + (1.3 * line + 1.1) * large }, text)));
    said.forEach((text, line) => svg.append(place("text", { ...style, y: top + height + 1.3 * (line + 1) * room }, text)));
    return new XMLSerializer().serializeToString(svg).replaceAll("currentColor", INK);
  };

  const save = (blob, name) => {
    const address = URL.createObjectURL(blob);
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };

  const vector = (block) => new Blob([picture(block)], { type: "image/svg+xml" });

  const raster = (block) => {
    const image = new Image();
    image.onload = () => {
      const canvas = element("canvas");
      [canvas.width, canvas.height] = [image.width * SCALE, image.height * SCALE];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, `${block.dataset.name}.png`));
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture(block))}`;
  };

  const button = (text, label, act) => {
    const made = element("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", act);
    return made;
  };

  const cite = (block) => {
    const fold = element("details", { class: "rerun-cite" });
    fold.append(element("summary", {}, "cite this"));
    fold.addEventListener("toggle", () => {
      if (fold.open) {
        fold.querySelector("pre")?.remove();
        const address = `${location.href.split("#")[0]}#${block.id}`;
        fold.append(element("pre", { class: "rerun-plain" }, [source(block), address, "",
          ...entries(block).flatMap((one) => [one, ""]), about.book].join("\n")));
      }
    });
    return fold;
  };

  document.querySelectorAll(".rerun-figure[id], .rerun-block[id]").forEach((block) => {
    const row = element("div", { class: "rerun-tools" });
    const said = words(block);
    row.append(element("a", { href: `#${block.id}`, "aria-label": `link to ${said}` }, "link"));
    if (block.querySelector("svg")) {
      row.append(button("SVG", `save ${said} as SVG`, () => save(vector(block), `${block.dataset.name}.svg`)));
      row.append(button("PNG", `save ${said} as PNG`, () => raster(block)));
    }
    row.append(cite(block));
    (block.querySelector("figcaption") ?? block).append(row);
  });
})();
