/* A search finds pages of one language: that of the page where it began, or Chinese where the query is.

   Sphinx's own tests call `_performSearch` too; where a later Sphinx has none, both languages are found. */
const asked = new URLSearchParams(location.search);
const chinese = asked.get("lang") === "zh" || /\p{Script=Han}/u.test(asked.get("q"));

if (Search._performSearch) {
  const found = Search._performSearch;
  Search._performSearch = (...query) => found(...query).filter(([page]) => page.includes("/zh/") === chinese);
}

if (chinese) {
  document.addEventListener("DOMContentLoaded", () => {
    for (const field of document.querySelectorAll('input[name="q"]')) {
      const lang = Object.assign(document.createElement("input"), { type: "hidden", name: "lang", value: "zh" });
      field.after(lang);
    }
  });
}
