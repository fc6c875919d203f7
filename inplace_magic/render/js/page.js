/* Makes one report of a page a live one. Its pictures and its state are all that is read. */

/* Below a fix that was tried and not refuted, a button that copies the corrected lines. Where nothing may be put into the
   clipboard, as in some frames, the lines are selected instead. */
function copiable(fix, words) {
  const button = quiet(make("button", { type: "button", class: "im-copy" }, words.copy));
  button.addEventListener("click", async () => {
    const lines = fix.textContent.split("\n").filter((line) => line[0] === "+").map((line) => line.slice(1));
    try {
      await navigator.clipboard.writeText(lines.join("\n"));
      button.textContent = words.copied;
    } catch (refused) {
      getSelection().selectAllChildren(fix);
    }
  });
  fix.after(button);
}

function enliven(page, state) {
  const graph = page.querySelector("img.inplace-magic-graph"), lanes = page.querySelector(".im-lanes");
  const root = document.createElement("div");
  graph.before(root);
  if (state.beside) graph.closest("details").open = false;  /* the widget below shows it */
  try {
    const svg = textOf(graph);
    for (const img of page.querySelectorAll("img")) if (img !== graph) inline(img, textOf(img));
    mount(root, { ...state, svg }, { page, lanes });
    graph.remove();
    page.querySelectorAll(".inplace-magic-fix").forEach((fix) => copiable(fix, state.words));
  } catch (error) {
    root.replaceChildren(state.words.broken.replace("{error}", error));
  }
}

document.currentScript.enliven = enliven;
