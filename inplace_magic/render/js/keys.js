/* The graph by the keyboard: one stop for Tab, arrow keys from box to box, Enter keeps one, + - 0 zoom. */
const TOWARDS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/* The nearest box in a direction; one that lies aside counts as farther. */
function neighbour(nodes, node, [ux, uy]) {
  const middle = (each) => { const b = each.getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]; };
  const [x, y] = middle(node);
  let best = null, least = Infinity;
  for (const other of nodes) {
    const [ox, oy] = middle(other), dx = ox - x, dy = oy - y, along = dx * ux + dy * uy;
    const cost = along + 2 * Math.abs(dx * uy - dy * ux);
    if (other !== node && along > 1 && cost < least) { best = other; least = cost; }
  }
  return best;
}

function keyboard(svg, nodes, first, view, choose, on) {
  const roam = (node) => { for (const n of nodes) n.setAttribute("tabindex", n === node ? "0" : "-1"); };
  const keys = {
    "+": () => view.zoom(1.25), "=": () => view.zoom(1.25), "-": () => view.zoom(0.8), "0": view.fit,
    Enter: (node) => choose(key(node)), " ": (node) => choose(key(node)),
    Home: () => nodes[0].focus(), End: () => nodes[nodes.length - 1].focus(),
  };
  roam(first);
  for (const node of nodes) on(node, "focus", () => { roam(node); view.show(node); });
  on(svg, "keydown", (e) => {
    const node = e.target.closest && e.target.closest(".n");
    if (!node || e.ctrlKey || e.metaKey || e.altKey) return;
    const next = TOWARDS[e.key] && neighbour(nodes, node, TOWARDS[e.key]);
    if (next) next.focus();
    else if (keys[e.key]) keys[e.key](node);
    else if (!TOWARDS[e.key]) return;
    e.preventDefault(); e.stopPropagation();
  });
}
