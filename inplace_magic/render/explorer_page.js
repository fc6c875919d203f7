/* Makes each report above a live one. Its pictures and the packed state in its own markup are all that is read. */
const pictureIn = (img) => decodeURIComponent(img.src.slice(img.src.indexOf(",") + 1));

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

async function enliven(page, packed) {
  const graph = page.querySelector("img.inplace-magic-graph"), lanes = page.querySelector("img.inplace-magic-timeline");
  const state = await unpacked(packed);
  const root = document.createElement("div");
  graph.before(root);
  try {
    mount(root, { ...state, svg: pictureIn(graph), timeline: lanes && pictureIn(lanes) }, { page });
    graph.remove();
    if (lanes) lanes.closest("details").remove();
  } catch (error) {
    root.replaceChildren(state.words.broken.replace("{error}", error));
  }
}

/* Without DecompressionStream (browsers from before 2023) the pictures stay what they are. */
for (const page of document.querySelectorAll(".inplace-magic[data-state]")) {
  const packed = page.getAttribute("data-state");
  page.removeAttribute("data-state");
  if (window.DecompressionStream) enliven(page, packed);
}
