/* The code beside the graph. A line is known by its place, "source:number". */
const placeOf = ([source, number]) => source + ":" + number;

/* Gives the element, the keys of the boxes that belong to each place, and light(places, follow), which marks these lines
   and, to follow, scrolls to the first of them. `hover` is told the place that is pointed at, null for none. */
function sourcePanel(state, byKey, view, hover, on) {
  const element = make("div", { class: "im-code", role: "group", "aria-label": state.words.source });
  const rows = new Map(), keysAt = new Map();
  state.sources.forEach((source, s) => {
    element.append(make("b", {}, source.name));
    for (const [number, text] of source.lines) {
      const row = make("div", {}, make("i", {}, String(number || "")), text || " ");
      element.append(row);
      rows.set(placeOf([s, number]), row);
    }
  });
  for (const [at, wrote, text] of state.marks || []) {
    const row = rows.get(placeOf(at));
    if (!row) continue;
    row.className = wrote ? "im-wrote" : "im-kept";
    row.append(make("em", {}, text));
  }
  for (const k of byKey.keys()) {
    for (const at of (state.nodes[k] || {}).at || []) {
      if (!keysAt.has(placeOf(at))) keysAt.set(placeOf(at), new Set());
      keysAt.get(placeOf(at)).add(k);
    }
  }
  for (const [at, row] of rows) {
    if (!keysAt.has(at)) continue;
    quiet(row).setAttribute("tabindex", "0");
    on(row, "mouseenter focus", () => hover(at));
    on(row, "mouseleave blur", () => hover(null));
    on(row, "click", () => { view.show(byKey.get([...keysAt.get(at)][0])); });
  }
  const light = (places, follow) => {
    let top = null;
    for (const [at, row] of rows) {
      row.classList.toggle("im-hot", places.has(at));
      if (!top && places.has(at)) top = row;
    }
    if (top && follow) element.scrollTop = Math.max(0, top.offsetTop - element.offsetTop - element.clientHeight / 3);
  };
  return { element, keysAt, light };
}
