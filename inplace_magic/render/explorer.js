/* The live view of a report: graph, source and timeline, each lighting up the others. Plain JavaScript without imports.

   mount(root, state, options) puts it into the element `root` and gives { select(key), step(call), destroy() }.
   `state` is what explorer.py makes; it is read as data only. Of `options` each is optional: onSelect(key), onStep(call)
   and onExpand(key) are told what a person did, never what select() and step() were called with; `page` is the element
   whose tables follow. `step` is the index of a call, null for all of them. */
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = "svg style g title path rect ellipse circle line polyline polygon text tspan".split(" ");

/* Every colour that is written out becomes one that a theme can change; what it was before comes back at the end. */
function themed(element, undo) {
  const vary = (text) => text.replace(/(,?)#([0-9a-f]{6})\b/gi, (whole, varied, hex) =>
    varied ? whole : `var(--im-${hex.toUpperCase()},${whole})`);
  for (const el of [element, ...element.querySelectorAll("*")]) {
    if (el.localName === "style" && el.namespaceURI === SVG) { el.textContent = vary(el.textContent); continue; }
    const was = el.getAttribute("style") || "";
    let css = was;
    for (const name of ["fill", "stroke"]) {
      const value = el.namespaceURI === SVG && el.getAttribute(name);
      if (value && value[0] === "#") css += `;${name}:${value}`;
    }
    if (!css.includes("#")) continue;
    el.setAttribute("style", vary(css));
    if (undo) undo.push(() => { el.setAttribute("style", was); });
  }
}

/* A picture as elements of this page; what a picture of ours never has is taken off. */
function picture(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  for (const el of [svg, ...svg.querySelectorAll("*")]) {
    if (el.namespaceURI !== SVG || !DRAWN.includes(el.localName)) el.remove();
    for (const a of [...el.attributes]) if (/^on|href/i.test(a.name)) el.removeAttribute(a.name);
  }
  if (svg.localName !== "svg") throw new Error("no picture");
  return document.importNode(svg, true);
}

function make(tag, more, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(more || {})) el.setAttribute(name, value);
  el.append(...children);
  return el;
}

/* JupyterLab takes the keys pressed on anything else for its own commands, such as `b` for a new cell. */
const quiet = (el) => { el.setAttribute("data-lm-suppress-shortcuts", "true"); return el; };
const titleOf = (node) => { const t = node.querySelector("title"); return t ? t.textContent : ""; };

/* Pan and zoom of the graph. */
function camera(svg, stage) {
  const [, , w, h] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
  let x = 0, y = 0, k = 4 / 3, width = 0, height = 0;
  const draw = () => svg.setAttribute("viewBox", [x, y, width / k, height / k].join(" "));
  const center = (cx, cy) => { x = cx - width / k / 2; y = cy - height / k / 2; draw(); };
  const self = {
    zoom(f, px = width / 2, py = height / 2) {
      const next = Math.min(8, Math.max(0.05, k * f));
      x += px / k - px / next; y += py / k - py / next; k = next;
      draw();
    },
    fit() { k = Math.min(4 / 3, width / w, height / h); center(w / 2, h / 2); },
    move(dx, dy) { x -= dx / k; y -= dy / k; draw(); },
    show(node) {
      const b = node.getBBox();
      if (b.x >= x && b.y >= y && b.x + b.width <= x + width / k && b.y + b.height <= y + height / k) return;
      center(b.x + b.width / 2, b.y + b.height / 2);
      x = Math.max(0, Math.min(x, w - width / k)); y = Math.max(0, Math.min(y, h - height / k));
      draw();
    },
    resize(first) {
      const known = width;
      width = stage.clientWidth;
      if (!width) return;
      if (known) { draw(); return; }
      k = Math.min(4 / 3, width / w);
      height = Math.min(Math.max(h * k, 240), Math.max(400, innerHeight * 0.75));
      svg.style.height = height + "px";
      center(w / 2, h / 2);
      if (h * k > height && first) self.show(first);
    },
  };
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  return self;
}

function mount(root, state, options) {
  const opts = options || {}, words = state.words, undo = [];
  const off = new AbortController();
  const on = (target, types, act, more) => {
    for (const type of types.split(" ")) target.addEventListener(type, act, { signal: off.signal, ...more });
  };
  const info = (key) => (Object.hasOwn(state.nodes, key) ? state.nodes[key] : null);
  const box = make("div", { class: "im-x im-themed" }, make("style", {}, state.css));
  let pinned = null, over = null, line = null, hits = null, now = null, lastFacts;

  /* The graph. */
  const svg = picture(state.svg), stage = make("div", { class: "im-stage" }, svg), view = camera(svg, stage);
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", words.graph);
  const nodes = [...svg.querySelectorAll(".n")], edges = [...svg.querySelectorAll(".e")];
  const key = (el) => el.getAttribute("data-k");
  const byKey = new Map(nodes.map((node) => [key(node), node]));
  const ends = (edge) => [edge.getAttribute("data-f"), edge.getAttribute("data-t")];
  const near = new Map(nodes.map((node) => [key(node), new Set([key(node)])]));
  for (const [from, to] of edges.map(ends)) {
    if (near.has(from) && near.has(to)) { near.get(from).add(to); near.get(to).add(from); }
  }
  const born = (k) => (info(k) ? info(k).call : -1);

  const tell = (name, value) => { if (opts[name]) opts[name](value); };
  const choose = (k) => {
    pinned = k === pinned ? null : k;
    refresh();
    tell("onSelect", pinned);
  };
  const roam = (node) => { for (const n of nodes) n.setAttribute("tabindex", n === node ? "0" : "-1"); };
  for (const node of nodes) {
    quiet(node).setAttribute("role", "button");
    const texts = [...node.querySelectorAll("text")];
    texts.forEach((text) => text.after(" "));  /* else its lines are read as one word */
    node.setAttribute("aria-label", texts.map((text) => text.textContent).join(" "));
    on(node, "mouseenter focus", () => { over = key(node); refresh(); });
    on(node, "mouseleave blur", () => { over = null; refresh(); });
    on(node, "focus", () => { roam(node); view.show(node); });
    on(node, "click", () => choose(key(node)));
    on(node, "dblclick", () => { if (info(key(node)) && info(key(node)).fold) tell("onExpand", key(node)); });
  }
  roam(svg.querySelector(".guilty") || nodes[0]);

  const middle = (node) => { const b = node.getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]; };
  const towards = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const neighbour = (node, [ux, uy]) => {
    const [x, y] = middle(node);
    let best = null, least = Infinity;
    for (const other of nodes) {
      const [ox, oy] = middle(other), dx = ox - x, dy = oy - y, along = dx * ux + dy * uy;
      const cost = along + 2 * Math.abs(dx * uy - dy * ux);
      if (other !== node && along > 1 && cost < least) { best = other; least = cost; }
    }
    return best;
  };
  const keys = {
    "+": () => view.zoom(1.25), "=": () => view.zoom(1.25), "-": () => view.zoom(0.8), "0": view.fit,
    Enter: (node) => choose(key(node)), " ": (node) => choose(key(node)),
    Home: () => nodes[0].focus(), End: () => nodes[nodes.length - 1].focus(),
  };
  on(svg, "keydown", (e) => {
    const node = e.target.closest && e.target.closest(".n");
    if (!node || e.ctrlKey || e.metaKey || e.altKey) return;
    const next = towards[e.key] && neighbour(node, towards[e.key]);
    if (next) next.focus();
    else if (keys[e.key]) keys[e.key](node);
    else if (!towards[e.key]) return;
    e.preventDefault(); e.stopPropagation();
  });

  let drag = null, moved = false;
  on(svg, "pointerdown", (e) => { drag = [e.clientX, e.clientY]; moved = false; });
  on(svg, "pointermove", (e) => {
    if (!drag) return;
    const [dx, dy] = [e.clientX - drag[0], e.clientY - drag[1]];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    if (!moved) svg.setPointerCapture(e.pointerId);
    moved = true;
    view.move(dx, dy);
    drag = [e.clientX, e.clientY];
  });
  on(svg, "pointerup pointercancel", () => { drag = null; });
  on(svg, "click", (e) => { if (moved) { e.stopPropagation(); moved = false; } }, { capture: true });
  on(svg, "wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const b = svg.getBoundingClientRect();
    view.zoom(Math.exp(-e.deltaY / 300), e.clientX - b.left, e.clientY - b.top);
  }, { passive: false });

  /* The tools above it. */
  const button = (text, label, act) => {
    const b = quiet(make("button", { type: "button", title: label, "aria-label": `${text} ${label}` }, text));
    on(b, "click", act);
    return b;
  };
  const find = quiet(make("input", { type: "search", placeholder: words.find, "aria-label": words.find }));
  const found = make("span", { role: "status" });
  const search = () => {
    const text = find.value.trim().toLowerCase();
    const said = (n) => [titleOf(n), n.textContent, key(n), JSON.stringify((info(key(n)) || {}).facts || "")].join(" ");
    hits = text ? nodes.filter((n) => said(n).toLowerCase().includes(text)) : null;
    found.textContent = hits ? words.found.replace("{count}", hits.length) : "";
    if (hits && hits.length) view.show(hits[0]);
    refresh();
  };
  on(find, "input", search);
  on(find, "keydown", (e) => {
    if (e.key === "Enter" && hits && hits.length) {
      hits.push(hits.shift());
      hits[hits.length - 1].focus();
    }
  });
  const bar = make("div", { class: "im-bar" }, button("+", words.zoom_in, () => view.zoom(1.25)),
    button("−", words.zoom_out, () => view.zoom(0.8)), button(words.fit, words.fit_all, view.fit), find, found,
    make("span", {}, words.hint));

  /* What is selected, and the code beside the graph. */
  const heading = make("div", { role: "status", "aria-live": "polite" }), list = make("dl");
  const facts = make("div", { class: "im-facts" }, heading, list);
  const place = ([source, number]) => source + ":" + number;
  const lines = new Map(), onLine = new Map();
  const code = make("div", { class: "im-code", role: "group", "aria-label": words.source });
  state.sources.forEach((source, s) => {
    code.append(make("b", {}, source.name));
    for (const [number, text] of source.lines) {
      const row = make("div", {}, make("i", {}, String(number || "")), text || " ");
      code.append(row);
      lines.set(place([s, number]), row);
    }
  });
  for (const [at, wrote, text] of state.marks || []) {
    const row = lines.get(place(at));
    if (!row) continue;
    row.className = wrote ? "im-wrote" : "im-kept";
    row.append(make("em", {}, text));
  }
  for (const k of byKey.keys()) {
    for (const at of (info(k) || {}).at || []) {
      if (!onLine.has(place(at))) onLine.set(place(at), new Set());
      onLine.get(place(at)).add(k);
    }
  }
  for (const [at, row] of lines) {
    if (!onLine.has(at)) continue;
    quiet(row).setAttribute("tabindex", "0");
    on(row, "mouseenter focus", () => { line = at; refresh(); });
    on(row, "mouseleave blur", () => { line = null; refresh(); });
    on(row, "click", () => { view.show(byKey.get([...onLine.get(at)][0])); });
  }

  /* The calls in their order. */
  const steps = state.steps, count = steps.length;
  const range = quiet(make("input", { type: "range", min: 0, max: count, value: count, "aria-label": words.steps }));
  const said = make("span", {}), lanes = make("div", { class: "im-lanes" });
  const time = make("div", { class: "im-steps" }, make("div", { class: "im-bar" }, words.steps, range, said), lanes);
  let marks = [], cursor = null, columns = [];
  if (state.timeline) {
    lanes.append(picture(state.timeline));
    lanes.querySelectorAll(".m,.v").forEach((el, n) => {
      const title = document.createElementNS(SVG, "title");
      title.textContent = (state.titles || [])[n] || "";
      if (title.textContent) el.prepend(title);
    });
    quiet(lanes).setAttribute("tabindex", "0");
    marks = [...lanes.querySelectorAll("[data-c]")];
    cursor = lanes.querySelector(".now");
    const [calls, xs] = ["data-cs", "data-xs"].map((name) => (lanes.firstChild.getAttribute(name) || "").split(" ").map(Number));
    columns = calls.map((call, n) => [call, xs[n]]);
    for (const mark of marks) {
      on(mark, "mouseenter", () => { if (byKey.has(key(mark))) { over = key(mark); refresh(); } });
      on(mark, "mouseleave", () => { over = null; refresh(); });
      on(mark, "click", () => {
        if (byKey.has(key(mark))) choose(key(mark));
        go(Number(mark.getAttribute("data-c")), true);
      });
    }
  }
  const at = () => (now === null ? null : steps.filter((step) => step[0] <= now).pop() || null);
  const go = (call, told) => {
    now = call === null || call === undefined || !count || call >= steps[count - 1][0] ? null : call;
    const here = at();
    range.value = now === null ? count : here ? steps.indexOf(here) + 1 : 0;
    range.setAttribute("aria-valuetext", here ? here[3] : words.all_steps);
    if (here && byKey.has(here[1])) view.show(byKey.get(here[1]));
    refresh();
    if (told) tell("onStep", now);
  };
  on(range, "input", () => {
    const n = Number(range.value);
    go(n >= count ? null : n ? steps[n - 1][0] : -1, true);
  });

  const rows = (name) => {
    const table = opts.page && opts.page.querySelector("table.im-" + name);
    return table ? [...table.tBodies[0].rows].map((row, n) => [row, (state.rows[name] || [])[n]]) : [];
  };
  const tables = [...rows("lines"), ...rows("tensors")].filter(([, call]) => call !== undefined);

  function refresh() {
    const here = at(), k = over || pinned, known = k && info(k);
    let lit = null;
    if (k && byKey.has(k)) {
      lit = new Set(near.get(k));
      for (const path of state.paths) if (path.includes(k)) path.forEach((each) => lit.add(each));
    } else if (line !== null) lit = onLine.get(line);
    else if (hits) lit = new Set(hits.map(key));
    const late = (each) => now !== null && born(each) > now;
    for (const node of nodes) {
      const each = key(node);
      node.classList.toggle("im-dim", lit !== null && !lit.has(each));
      node.classList.toggle("im-later", late(each));
      node.classList.toggle("im-on", each === pinned || (!pinned && here !== null && here[1] === each));
      node.setAttribute("aria-pressed", String(each === pinned));
    }
    for (const edge of edges) {
      const pair = ends(edge);
      edge.classList.toggle("im-dim", lit !== null && !pair.every((each) => lit.has(each)));
      edge.classList.toggle("im-later", pair.some(late));
    }
    for (const mark of marks) {
      mark.classList.toggle("im-later", now !== null && Number(mark.getAttribute("data-c")) > now);
      mark.classList.toggle("im-dim", lit !== null && mark.hasAttribute("data-k") && !lit.has(key(mark)));
    }
    if (cursor) {
      const column = now === null ? null : columns.filter(([call]) => call <= now).pop();
      cursor.setAttribute("visibility", column ? "visible" : "hidden");
      if (column) cursor.setAttribute("x", column[1] - cursor.getAttribute("width") / 2);
    }
    const hot = new Set(((known || {}).at || (here ? here[2] : [])).map(place));
    if (line !== null) hot.add(line);
    let top = null;
    for (const [each, row] of lines) {
      row.classList.toggle("im-hot", hot.has(each));
      if (!top && hot.has(each) && line === null) top = row;
    }
    if (top) code.scrollTop = Math.max(0, top.offsetTop - code.offsetTop - code.clientHeight / 3);
    for (const [row, call] of tables) {
      row.classList.toggle("im-hot", here !== null && call === here[0]);
      row.classList.toggle("im-past", now !== null && call > now);
    }
    said.textContent = here ? here[3] : now === null ? words.all_steps : words.before;
    panel(k || (here && here[1]), here);
  }

  function panel(k, here) {
    const known = k && info(k), mark = `${k}|${pinned}|${here && here[0]}`;
    if (mark === lastFacts) return;
    lastFacts = mark;
    list.replaceChildren();
    heading.replaceChildren(known ? make("b", {}, known.title) : here ? here[3] : words.nothing_selected);
    if (!known) return;
    if (here && here[1] === k) heading.append(make("div", {}, here[3]));
    for (const [label, value] of known.facts) list.append(make("dt", {}, label), make("dd", {}, value));
    if (known.fold && opts.onExpand) heading.append(" ", button(words.open, words.open, () => tell("onExpand", k)));
    if (k === pinned) heading.append(" ", make("i", {}, words.let_go));
  }

  on(box, "keydown", (e) => {
    if (e.key !== "Escape") return;
    find.value = "";
    hits = over = line = null;
    found.textContent = "";
    e.stopPropagation();
    if (pinned) choose(pinned); else refresh();
  });

  box.append(bar, make("div", { class: "im-main" }, stage, make("div", { class: "im-side" }, facts, code)));
  if (count) box.append(time);
  themed(box);
  if (opts.page) {
    opts.page.classList.add("im-themed");
    themed(opts.page, undo);
    undo.push(() => opts.page.classList.remove("im-themed"));
    undo.push(() => { for (const [row] of tables) row.classList.remove("im-hot", "im-past"); });
  }
  root.append(box);
  const sizes = new ResizeObserver(() => view.resize(svg.querySelector(".guilty") || nodes[0]));
  sizes.observe(stage);
  view.resize(svg.querySelector(".guilty") || nodes[0]);
  refresh();
  return {
    select(k) { pinned = k !== null && byKey.has(k) ? k : null; if (pinned) view.show(byKey.get(pinned)); refresh(); },
    step(call) { go(call, false); },
    destroy() { off.abort(); sizes.disconnect(); undo.forEach((act) => act()); box.remove(); },
  };
}
