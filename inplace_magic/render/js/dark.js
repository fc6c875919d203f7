/* Makes what is not live follow the theme: cards of findings, comparisons, reports without a graph. A live report, which
   comes with a `data-state`, does it itself. SHEET is what the colours are under dark themes. */
(function () {
  PARTS
  for (const page of document.querySelectorAll(".inplace-magic:not(.im-themed):not([data-state])")) {
    page.classList.add("im-themed");
    for (const img of page.querySelectorAll("img")) {
      const svg = picture(decodeURIComponent(img.src.slice(img.src.indexOf(",") + 1)));
      for (const [name, value] of [["role", "img"], ["aria-label", img.alt], ["style", "max-width:100%;height:auto"]]) {
        svg.setAttribute(name, value);
      }
      img.replaceWith(svg);
    }
    themed(page);
    page.prepend(make("style", {}, "SHEET"));
  }
})();
