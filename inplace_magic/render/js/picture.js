/* Elements of the live view: pictures made live, colours that follow the theme, and small pieces of a page. */
const SVG = "http://www.w3.org/2000/svg";
const DRAWN = "svg style g title path rect ellipse circle line polyline polygon text tspan".split(" ");

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

/* A picture as elements of this page; what a picture of ours never has is taken off. */
function picture(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  for (const el of [svg, ...svg.querySelectorAll("*")]) {
    if (el.namespaceURI !== SVG || !DRAWN.includes(el.localName)) el.remove();
    for (const a of [...el.attributes]) if (/^on|href/i.test(a.name)) el.removeAttribute(a.name);
  }
  if (svg.localName !== "svg") throw new Error("no picture");
  return document.importNode(svg, true);
}

function make(tag, more, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(more || {})) el.setAttribute(name, value);
  el.append(...children);
  return el;
}

/* JupyterLab takes the keys pressed on anything else for its own commands, such as `b` for a new cell. */
const quiet = (el) => { el.setAttribute("data-lm-suppress-shortcuts", "true"); return el; };
const titleOf = (node) => { const t = node.querySelector("title"); return t ? t.textContent : ""; };
const key = (el) => el.getAttribute("data-k");
