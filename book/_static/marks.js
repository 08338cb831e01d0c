/* Each mark of a figure tells its value to pointer, finger and keyboard.  The drawing carries the words as titles
   (supercomputers_rerun/companion/figures/marks.py), which a browser shows where no script runs. */
(() => {
  "use strict";
  const REACH = 24, EDGE = 8, said = new WeakMap();
  const tip = document.createElement("div");
  tip.className = "rerun-tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  (document.querySelector("main") ?? document.body).append(tip);
  let told = null;

  /* Marks in their order; a title that is new, of a star or of a steered figure, becomes words of this script. */
  const marks = (svg) => {
    svg.querySelectorAll("title").forEach((title) => {
      said.set(title.parentNode, title.textContent);
      title.parentNode.toggleAttribute("data-tells", true);
      title.remove();
    });
    return [...svg.querySelectorAll("[data-tells]")];
  };
  const drawn = (figure) => [...figure.querySelectorAll("svg")].find((svg) => svg.clientWidth > 100);

  const place = () => {
    const mark = told.getBoundingClientRect(), middle = (mark.left + mark.right) / 2;
    const left = Math.min(Math.max(middle - tip.offsetWidth / 2, EDGE), document.documentElement.clientWidth - tip.offsetWidth - EDGE);
    const above = mark.top - tip.offsetHeight - 2 * EDGE;
    tip.style.left = `${Math.max(EDGE, left)}px`;
    tip.style.top = `${above > EDGE ? above : mark.bottom + 2 * EDGE}px`;
  };
  const hide = () => {
    told?.classList.remove("is-told");
    told = null;
    tip.hidden = true;
  };
  const tell = (mark) => {
    if (mark === told) return;
    hide();
    if (!mark) return;
    told = mark;
    told.classList.add("is-told");
    tip.replaceChildren(...said.get(mark).split("\n").map((line, n) => {
      const made = document.createElement(n ? "div" : "strong");
      made.textContent = line;
      return made;
    }));
    tip.hidden = false;
    place();
  };

  /* The mark within reach of a place of the window, of several the one whose middle is nearest. */
  const near = (svg, x, y) => {
    let [found, least] = [null, REACH];
    for (const mark of marks(svg)) {
      const box = mark.getBoundingClientRect();
      const away = Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
      const off = away + Math.hypot(x - (box.left + box.right) / 2, y - (box.top + box.bottom) / 2) / 1000;
      if (off < least) [found, least] = [mark, off];
    }
    return found;
  };

  /* One stop of the Tab key a figure: a slider over its marks, whose value a screen reader says. */
  const walk = (figure) => {
    const slider = document.createElement("input");
    Object.entries({ type: "range", class: "rerun-walk", min: 0, step: 1, value: 0,
      "aria-label": `values of the figure ${figure.querySelector(".rerun-title")?.textContent ?? ""}`.trim() })
      .forEach(([name, value]) => slider.setAttribute(name, value));
    const show = () => {
      const svg = drawn(figure), every = svg ? marks(svg) : [];  // a steered figure is drawn later
      if (!every.length) return;
      slider.max = every.length - 1;
      const mark = every[Math.min(slider.value, every.length - 1)];
      slider.setAttribute("aria-valuetext", `${said.get(mark).replaceAll("\n", ". ")}, ${Number(slider.value) + 1} of ${every.length}`);
      if (document.activeElement !== slider) return;
      mark.scrollIntoView({ block: "nearest" });
      tell(mark);
    };
    slider.addEventListener("focus", show);
    slider.addEventListener("input", show);
    slider.addEventListener("blur", hide);
    slider.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];  // down is on, as the rows of a figure are
      if (!step) return;
      event.preventDefault();
      slider.value = Number(slider.value) + step;
      show();
    });
    figure.querySelector("figcaption").before(slider);
    show();
  };

  document.querySelectorAll("figure.rerun-figure").forEach((figure) => {
    if (!figure.querySelector(".rerun-marks, .rerun-live")) return;
    const under = (event) => {
      const svg = event.target.closest("svg");
      if (svg?.clientWidth > 100) tell(near(svg, event.clientX, event.clientY));
    };
    figure.addEventListener("pointermove", under);
    figure.addEventListener("pointerdown", under);
    figure.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    figure.querySelectorAll("svg").forEach(marks);
    walk(figure);
  });
  addEventListener("pointerdown", (event) => { if (!event.target.closest?.("figure.rerun-figure svg")) hide(); });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  addEventListener("scroll", () => { if (told) place(); }, { passive: true, capture: true });
})();
