/* Makes one report of a page a live one. Its pictures and its state are all that is read.

   The pictures stand in the page without what nobody sees in an <img>, see `seen` in svg.py; `state.unseen` has it. */
function pictureIn(img, unseen) {
  const text = decodeURIComponent(img.src.slice(img.src.indexOf(",") + 1));
  let n = 0;
  return !unseen ? text : text.replace(/<(svg|g|text class='v')[^>]*>/g, (tag) => tag.slice(0, -1) + unseen[n++]);
}

/* Under a dark theme an <img> would stay a light card. */
function inline(img) {
  const svg = picture(pictureIn(img));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", img.alt);
  svg.setAttribute("style", "max-width:100%;height:auto");
  img.replaceWith(svg);
}

function enliven(page, state) {
  const graph = page.querySelector("img.inplace-magic-graph"), lanes = page.querySelector("img.inplace-magic-timeline");
  const root = document.createElement("div"), [drawn, tracks] = state.unseen;
  graph.before(root);
  try {
    const pictures = { svg: pictureIn(graph, drawn), timeline: lanes && pictureIn(lanes, tracks) };
    for (const img of page.querySelectorAll("img")) if (img !== graph && img !== lanes) inline(img);
    mount(root, { ...state, ...pictures }, { page });
    graph.remove();
    if (lanes) lanes.closest("details").remove();
  } catch (error) {
    root.replaceChildren(state.words.broken.replace("{error}", error));
  }
}

document.currentScript.enliven = enliven;
