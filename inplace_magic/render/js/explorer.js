/* The live view of a report: graph, source and timeline, each lighting up the others. Plain JavaScript without imports.

   mount(root, state, options) puts it into the element `root` and gives { select(key), step(call), find, search(), destroy() }:
   what stands in the field `find` is what search() looks for.
   `state` is what explorer.py makes; it is read as data only. Of `options` each is optional: onSelect(key), onStep(call)
   and onExpand(key) are told what a person did, never what select() and step() were called with; `extra(key, heading)`
   adds to the facts of the tensor that is selected; `page` is the element
   whose tables follow, and `lanes` the timeline in it, else the state has one. `step` is the index of a call, null for all
   of them. */
function mount(root, state, options) {
  const opts = options || {}, words = state.words, undo = [];
  const off = new AbortController();
  const on = (target, types, act, more) => {
    for (const type of types.split(" ")) target.addEventListener(type, act, { signal: off.signal, ...more });
  };
  const info = (k) => (Object.hasOwn(state.nodes, k) ? state.nodes[k] : null);
  const box = make("div", { class: "im-x im-themed" }, make("style", {}, state.css));
  let pinned = null, over = null, line = null, hits = null, inside, now = null, lastFacts;

  /* The graph. */
  const svg = picture(state.svg), legend = [...svg.children].filter((each) => each.localName === "text");
  const top = legend.length && legend[legend.length - 1].getAttribute("y") - 4;
  const stage = make("div", { class: "im-stage" }, svg), more = make("span", { class: "im-more", "aria-hidden": "true" });
  const view = camera(svg, top, stage, words, state.paths, more, on);
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", words.graph);
  const nodes = [...svg.querySelectorAll(".n")], edges = [...svg.querySelectorAll(".e")];
  const byKey = new Map(nodes.map((node) => [key(node), node]));
  const start = svg.querySelector(".guilty") || byKey.get(state.first), first = start || nodes[0];
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
  for (const node of nodes) {
    quiet(node).setAttribute("role", "button");
    const texts = [...node.querySelectorAll("text")];
    texts.forEach((text) => text.after(" "));  /* else its lines are read as one word */
    node.setAttribute("aria-label", texts.map((text) => text.textContent).join(" "));
    on(node, "mouseenter focus", () => { over = key(node); refresh(); });
    on(node, "mouseleave blur", () => { over = null; refresh(); });
    on(node, "click", () => choose(key(node)));
    on(node, "dblclick", () => {
      if (!info(key(node)).fold) return;
      pinned = key(node);  /* a page that cannot open it says so in the panel */
      refresh();
      tell("onExpand", pinned);
    });
  }
  keyboard(svg, nodes, first, view, choose, on);

  /* The tools above it. */
  const button = (text, label, act) => {
    const b = quiet(make("button", { type: "button", title: label, "aria-label": `${text} ${label}` }, text));
    on(b, "click", act);
    return b;
  };
  const find = quiet(make("input", { type: "search", placeholder: words.find, "aria-label": words.find }));
  const found = make("span", { role: "status" });
  const search = () => {
    const text = find.value.trim().toLowerCase(), has = (...said) => said.join(" ").toLowerCase().includes(text);
    const open = nodes.filter((n) => has(titleOf(n), n.textContent, key(n), JSON.stringify(info(key(n)).facts)));
    inside = nodes.filter((n) => !open.includes(n) && has(info(key(n)).held));
    hits = text ? [...open, ...inside] : null;
    found.textContent = hits ? words.found.replace("{count}", hits.length) : "";
    if (inside.length) {
      found.append(words.inside.replace("{boxes}", inside.slice(0, 3).map((n) => info(key(n)).title).join(", ")));
    }
    if (hits && hits.length) view.show(hits[0]);
    refresh();
  };
  on(find, "input", search);
  on(find, "keydown", (e) => {
    if (e.key === "Enter" && hits && hits.length) {
      hits.push(hits.shift());
      const hit = hits[hits.length - 1];
      hit.focus();
      if (inside.includes(hit)) tell("onExpand", key(hit));
    }
  });
  const expand = button(words.expand, words.expand_all, () => {
    const said = view.expand(start) ? words.reduce : words.expand;
    expand.textContent = said;
    expand.setAttribute("aria-label", said);
  });
  const bar = make("div", { class: "im-bar" }, button("+", words.zoom_in, () => view.zoom(1.25)),
    button("−", words.zoom_out, () => view.zoom(0.8)), button(words.fit, words.fit_all, view.fit), expand, find, found,
    more, make("span", {}, legend.map((each) => each.textContent).join(" ")));
  legend.forEach((each) => each.remove());

  /* What is selected, the code beside the graph, and the calls in their order. */
  const heading = make("div", { role: "status", "aria-live": "polite" }), list = make("dl");
  const facts = make("div", { class: "im-facts" }, heading, list);
  const source = sourcePanel(state, byKey, view, (at) => { line = at; refresh(); }, on);
  const drawn = (k, act) => { if (k === null || byKey.has(k)) act(); };
  const lanes = opts.lanes || (state.timeline ? lanesIn(state.timeline) : null);
  const steps = stepper(state, lanes, {
    over: (k) => drawn(k, () => { over = k; refresh(); }),
    choose: (k) => { if (byKey.has(k)) choose(k); },
    go: (call) => go(call, true),
  }, on);
  const go = (call, told) => {
    now = steps.moment(call);
    const here = steps.at(now);
    steps.move(now, here);
    if (here && byKey.has(here[1])) view.show(byKey.get(here[1]));
    refresh();
    if (told) tell("onStep", now);
  };
  const tables = opts.page ? rowsOf(opts.page, state.rows) : [];

  function refresh() {
    const here = steps.at(now), k = over || pinned, known = k && info(k);
    let lit = null;
    if (k && byKey.has(k)) {
      lit = new Set(near.get(k));
      for (const path of state.paths) if (path.includes(k)) path.forEach((each) => lit.add(each));
    } else if (line !== null) lit = source.keysAt.get(line);
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
    steps.light(now, here, lit);
    const hot = new Set(((known || {}).at || (here ? here[2] : [])).map(placeOf));
    if (line !== null) hot.add(line);
    source.light(hot, line === null);
    for (const [row, call] of tables) {
      row.classList.toggle("im-hot", here !== null && call === here[0]);
      row.classList.toggle("im-past", now !== null && call > now);
    }
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
    if (known.fold) {
      heading.append(" ", opts.onExpand ? button(words.open, words.open, () => tell("onExpand", k))
        : words.folded.replace("{key}", k));
    }
    if (k === pinned) heading.append(" ", make("i", {}, words.let_go));
    if (k === pinned && opts.extra) opts.extra(k, heading);
  }

  on(box, "keydown", (e) => {
    if (e.key !== "Escape") return;
    find.value = "";
    hits = over = line = null;
    found.textContent = "";
    e.stopPropagation();
    if (pinned) choose(pinned); else refresh();
  });

  box.append(bar, make("div", { class: "im-main" }, stage, make("div", { class: "im-side" }, facts, source.element)));
  if (state.steps.length) {
    found.after(steps.element);
    if (lanes && !opts.lanes) box.append(lanes);
  }
  themed(box);
  if (opts.page) {
    opts.page.classList.add("im-themed");
    themed(opts.page, undo);
    undo.push(() => opts.page.classList.remove("im-themed"));
    undo.push(() => { for (const [row] of tables) row.classList.remove("im-hot", "im-past"); });
  }
  root.append(box);
  const fitted = () => { view.resize(start); expand.hidden = view.whole; };
  const sizes = new ResizeObserver(fitted);
  sizes.observe(stage);
  fitted();
  refresh();
  return {
    select(k) { pinned = k !== null && byKey.has(k) ? k : null; if (pinned) view.show(byKey.get(pinned)); refresh(); },
    step(call) { go(call, false); },
    find, search,
    destroy() { off.abort(); sizes.disconnect(); undo.forEach((act) => act()); box.remove(); },
  };
}
