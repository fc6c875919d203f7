/* Pan and zoom of the graph: by the mouse, by buttons, and to what is to be seen.

   A scale is in pixels for each unit of the picture, of which its letters are 11 high. It opens whole where its letters
   stay readable then, at WHOLE as small letters; else as large as they have to be, at the place that matters, and says
   where there is more. */
const NATURAL = 4 / 3, READABLE = 0.9, WHOLE = 0.8, FARTHEST = 0.05, NEAREST = 8;
/* Pixels of the stage; a page of its own and a widget have more. */
const LEAST = 150, TALLEST = 270, UNDER_A_FINDING = 230;
const MARGIN = 12;  /* units around the picture that are empty: what cuts only these hides nothing */

/* The picture begins at `top`: what stands above is its legend, which the page shows where it cannot be moved away.
   Where something was `found`, the page has a card above it, and the picture less room. */
function camera(svg, top, stage, words, found, on) {
  const [, , w, bottom] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number), h = bottom - top;
  const more = make("div", { class: "im-more", "aria-hidden": "true" });
  let x = 0, y = 0, k = NATURAL, width = 0, height = 0;
  const draw = () => {
    svg.setAttribute("viewBox", [x, y + top, width / k, height / k].join(" "));
    const beyond = [["←", x > MARGIN], ["↑", y > MARGIN], ["↓", y + height / k < h - MARGIN], ["→", x + width / k < w - MARGIN]];
    const signs = beyond.filter((side) => side[1]).map((side) => side[0]).join(" ");
    more.textContent = `${signs} ${words.more}`;
    more.hidden = !signs;
  };
  const center = (cx, cy) => { x = cx - width / k / 2; y = cy - height / k / 2; draw(); };
  /* As far as there is a picture: no empty ground beside a cut one, and a smaller one in the middle. */
  const within = (start, room, size) => (room > size ? (size - room) / 2 : Math.max(0, Math.min(start, size - room)));
  const self = {
    zoom(f, px = width / 2, py = height / 2) {
      const next = Math.min(NEAREST, Math.max(FARTHEST, k * f));
      x += px / k - px / next; y += py / k - py / next; k = next;
      draw();
    },
    fit() { k = Math.min(NATURAL, width / w, height / h); center(w / 2, h / 2); },
    show(node) {
      const b = node.getBBox(), above = b.y - top;
      if (b.x >= x && above >= y && b.x + b.width <= x + width / k && above + b.height <= y + height / k) return;
      center(b.x + b.width / 2, above + b.height / 2);
      x = within(x, width / k, w); y = within(y, height / k, h);
      draw();
    },
    resize(first) {
      const known = width;
      width = stage.clientWidth;
      if (!width) return;
      if (known) { draw(); return; }
      const room = stage.closest(".im-alone,.im-widget") ? Math.max(400, innerHeight * 0.75) : found ? UNDER_A_FINDING : TALLEST;
      const fitted = Math.min(width / w, room / h);
      k = Math.min(NATURAL, fitted < WHOLE ? READABLE : fitted);
      height = Math.min(Math.max(h * k, LEAST), room);
      svg.style.height = height + "px";
      stage.parentNode.style.setProperty("--im-room", height + "px");
      x = within(w / 2 - width / k / 2, width / k, w); y = within(0, height / k, h);
      draw();
      if (first) self.show(first);
    },
  };
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  stage.append(more);

  let drag = null, moved = false;
  on(svg, "pointerdown", (e) => { drag = [e.clientX, e.clientY]; moved = false; });
  on(svg, "pointermove", (e) => {
    if (!drag) return;
    const [dx, dy] = [e.clientX - drag[0], e.clientY - drag[1]];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    if (!moved) svg.setPointerCapture(e.pointerId);
    moved = true;
    x -= dx / k; y -= dy / k;
    draw();
    drag = [e.clientX, e.clientY];
  });
  on(svg, "pointerup pointercancel", () => { drag = null; });
  on(svg, "click", (e) => { if (moved) { e.stopPropagation(); moved = false; } }, { capture: true });
  on(svg, "wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const b = svg.getBoundingClientRect();
    self.zoom(Math.exp(-e.deltaY / 300), e.clientX - b.left, e.clientY - b.top);
  }, { passive: false });
  return self;
}
