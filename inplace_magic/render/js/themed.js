/* Colours that follow the theme. */
const SVG = "http://www.w3.org/2000/svg";

/* Every colour that is written out becomes one that a theme can change; what it was before comes back at the end. */
function themed(element, undo) {
  const vary = (text) => text.replace(/(,?)#([0-9a-f]{6})\b/gi, (whole, varied, hex) =>
    varied ? whole : `var(--im-${hex.toUpperCase()},${whole})`);
  for (const el of [element, ...element.querySelectorAll("*")]) {
    if (el.localName === "style" && el.namespaceURI === SVG) { el.textContent = vary(el.textContent); continue; }
    const was = el.getAttribute("style") || "";
    let css = was;
    for (const name of ["fill", "stroke"]) {
      const value = el.namespaceURI === SVG && el.getAttribute(name);
      if (value && value[0] === "#") css += `;${name}:${value}`;
    }
    if (!css.includes("#")) continue;
    el.setAttribute("style", vary(css));
    if (undo) undo.push(() => { el.setAttribute("style", was); });
  }
}
