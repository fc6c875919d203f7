/* Pan and zoom of the graph: by the mouse, by buttons, and to what is to be seen.

   A scale is in pixels for each unit of the picture, of which its letters are 11 high. It opens whole where its letters
   stay readable then, at WHOLE as small letters, in a taller stage at SMALL as small ones; else with all boxes
   of the findings in sight, or those of the worst one, as far as they fit at SMALL as small letters, or the guilty box.
   What is cut is said, and one click makes room for it. */
const NATURAL = 4 / 3, READABLE = 0.9, WHOLE = 0.8, SMALL = 0.65, FARTHEST = 0.05, NEAREST = 8;
/* Pixels of the stage, and of those tried where the picture does not fit; a page of its own and a widget have more. */
const LEAST = 150, ROOM = [270, 400, 560], UNDER_A_FINDING = [230, 340];
const MARGIN = 12;  /* units around the picture that are empty: what cuts only these hides nothing */

/* The picture begins at `top`: what stands above is its legend, which the page shows where it cannot be moved away.
   `found` are the keys of each finding's boxes, the worst first: then the page has a card above, and the picture less
   room. `more` is the element that says where there is more. */
function camera(svg, top, stage, words, found, more, on) {
  const [, , w, bottom] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number), h = bottom - top;
  let x = 0, y = 0, k = NATURAL, width = 0, height = 0;
  const draw = () => {
    svg.setAttribute("viewBox", [x, y + top, width / k, height / k].join(" "));
    const beyond = [["←", x > MARGIN], ["↑", y > MARGIN], ["↓", y + height / k < h - MARGIN], ["→", x + width / k < w - MARGIN]];
    const signs = beyond.filter((side) => side[1]).map((side) => side[0]).join(" ");
    more.textContent = `${signs} ${words.more}`;
    more.hidden = !signs;
  };
  /* As far as there is a picture: no empty ground beside a cut one, and a smaller one in the middle. */
  const within = (middle, room, size) => (room > size ? (size - room) / 2 : Math.max(0, Math.min(middle - room / 2, size - room)));
  const look = (cx, cy) => { x = within(cx, width / k, w); y = within(cy, height / k, h); draw(); };
  const tall = (pixels) => {
    height = pixels;
    svg.style.height = height + "px";
    stage.parentNode.style.setProperty("--im-room", height + "px");
  };
  const open = (first) => {
    const rooms = stage.closest(".im-alone,.im-widget") ? [Math.max(400, innerHeight * 0.75)] : found.length ? UNDER_A_FINDING : ROOM;
    let room;
    for (room of rooms) {
      k = Math.min(room === rooms[0] ? NATURAL : WHOLE, width / w, room / h);
      if (k >= (room === rooms[0] ? WHOLE : SMALL)) break;
    }
    self.whole = k >= (rooms[1] ? SMALL : WHOLE);
    if (!self.whole) k = READABLE;
    tall(Math.min(Math.max(h * k, LEAST), room));
    look(w / 2, 0);
    if (first) self.show(first);
    for (const keys of self.whole ? [] : [found.flat(), ...found.slice(0, 1)]) {
      const all = keys.map((each) => svg.querySelector(`.n[data-k="${each}"]`)).filter(Boolean).map((node) => node.getBBox());
      const [l, t] = ["x", "y"].map((side) => Math.min(...all.map((b) => b[side])));
      const r = Math.max(...all.map((b) => b.x + b.width)), bottom = Math.max(...all.map((b) => b.y + b.height));
      const scale = Math.min(READABLE, width / (r - l + MARGIN), height / (bottom - t + MARGIN));
      if (all.length && scale >= SMALL) {
        k = scale;
        look((l + r) / 2, (t + bottom) / 2 - top);
        return;
      }
    }
  };
  const self = {
    whole: true,
    /* All of the picture's height, as wide as the page; and back. */
    expand(first) {
      const wide = stage.parentNode.classList.toggle("im-wide");
      width = stage.clientWidth;
      if (wide) { k = Math.min(NATURAL, Math.max(WHOLE, width / w)); tall(h * k); look(0, 0); } else open(first);
      return wide;
    },
    zoom(f, px = width / 2, py = height / 2) {
      const next = Math.min(NEAREST, Math.max(FARTHEST, k * f));
      x += px / k - px / next; y += py / k - py / next; k = next;
      draw();
    },
    fit() { k = Math.min(NATURAL, width / w, height / h); look(w / 2, h / 2); },
    show(node) {
      const b = node.getBBox(), above = b.y - top;
      if (b.x >= x && above >= y && b.x + b.width <= x + width / k && above + b.height <= y + height / k) return;
      look(b.x + b.width / 2, above + b.height / 2);
    },
    resize(first) {
      const known = width;
      width = stage.clientWidth;
      if (!width) return;
      if (known) draw(); else open(first);
    },
  };
  svg.removeAttribute("width");
  svg.removeAttribute("height");

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
