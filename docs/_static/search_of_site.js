/* A search finds pages of one language: that of the page where it began, or Chinese where the query is. An error's text,
   pasted whole or in part, finds the page of that error first.

   Sphinx's own tests call `_performSearch` too; where a later Sphinx has none, both languages are found in its order. */
const asked = new URLSearchParams(location.search);
const chinese = asked.get("lang") === "zh" || /\p{Script=Han}/u.test(asked.get("q"));
const MANY = 4; // fewer words stand in the texts of many errors

/* Words alone, each number as one sign: shapes and versions differ from failure to failure. */
const plain = (text) => text.toLowerCase().replace(/\d+/g, "#").replace(/[^\p{Letter}#_]+/gu, " ").trim();

const errorOf = (query) => {
  const words = plain(query);
  return (
    ERRORS.find(({ pattern }) => new RegExp(pattern, "s").test(query)) ??
    (words.split(" ").length >= MANY && ERRORS.find(({ texts }) => texts.some((text) => plain(text).includes(words))))
  );
};

if (Search._performSearch) {
  const performSearch = Search._performSearch;
  Search._performSearch = (query, ...terms) => {
    const found = performSearch(query, ...terms).filter(([page]) => page.includes("/zh/") === chinese);
    const error = errorOf(query);
    if (!error) return found;
    const { docnames, titles, filenames } = Search._index;
    const page = `docs/${chinese ? "zh/" : ""}errors/${error.code}`;
    const at = docnames.indexOf(page);
    const first = [page, titles[at], "", null, 0, filenames[at], "title"]; // shown in the order from last to first
    return [...found.filter(([other]) => other !== page), first];
  };
}

if (chinese) {
  document.addEventListener("DOMContentLoaded", () => {
    for (const field of document.querySelectorAll('input[name="q"]')) {
      const lang = Object.assign(document.createElement("input"), { type: "hidden", name: "lang", value: "zh" });
      field.after(lang);
    }
  });
}
