/* Makes what is not live follow the theme: cards of findings, comparisons, reports without a graph. A live report, which
   comes with a `data-state`, does it itself. SHEET is what the colours are under dark themes. */
(function () {
  PARTS
  for (const page of document.querySelectorAll(".inplace-magic:not(.im-themed):not([data-state])")) {
    page.classList.add("im-themed");
    for (const img of page.querySelectorAll("img")) inline(img, textOf(img));
    themed(page);
    page.prepend(make("style", {}, "SHEET"));
  }
})();
