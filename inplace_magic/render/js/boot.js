/* The script of a page: unpacks the live view, which comes as LIVE, and for each report above it its state, and joins them.
   A page's markup never becomes code: the view stands in this script itself, and a state is read as JSON.
   Without DecompressionStream (browsers from before 2023) the pictures stay what they are. */
(async (live) => {
  const unpacked = (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  };
  const pages = [...document.querySelectorAll(".inplace-magic[data-state]")].map((page) => {
    const state = page.dataset.state;
    delete page.dataset.state;  /* the scripts of other reports on the page leave it alone */
    return [page, state];
  });
  if (!window.DecompressionStream) return;
  const script = document.createElement("script");
  script.text = await unpacked(live);
  document.head.append(script);
  script.remove();
  for (const [page, state] of pages) script.enliven(page, JSON.parse(await unpacked(state)));
})("LIVE");
