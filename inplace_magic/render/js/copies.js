/* Below each fix that was tried and not refuted, a button that copies the corrected lines. Only a page that has such a fix
   carries this. Where nothing may be put into the clipboard, as in some frames, the lines are selected instead. */
const bare = document.currentScript.enliven;
document.currentScript.enliven = (page, state) => {
  bare(page, state);
  for (const fix of page.querySelectorAll(".inplace-magic-fix")) {
    const button = quiet(make("button", { type: "button", class: "im-copy" }, state.words.copy));
    button.addEventListener("click", async () => {
      const lines = fix.textContent.split("\n").filter((line) => line[0] === "+").map((line) => line.slice(1));
      try {
        await navigator.clipboard.writeText(lines.join("\n"));
        button.textContent = state.words.copied;
      } catch (refused) {
        getSelection().selectAllChildren(fix);
      }
    });
    fix.after(button);
  }
};
