/* Elements of the live view: pictures made live, and small pieces of a page. */
const DRAWN = "svg style g title path rect ellipse circle line polyline polygon text tspan".split(" ");

/* An element of this page; what a picture or a table of ours never has is taken off. */
function ours(root, space, names) {
  for (const el of [root, ...root.querySelectorAll("*")]) {
    if (el.namespaceURI !== space || !names.includes(el.localName)) el.remove();
    for (const a of [...el.attributes]) if (/^on|href/i.test(a.name)) el.removeAttribute(a.name);
  }
  return document.importNode(root, true);
}

function picture(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (svg.localName !== "svg") throw new Error("no picture");
  return ours(svg, SVG, DRAWN);
}


const textOf = (img) => decodeURIComponent(img.src.slice(img.src.indexOf(",") + 1));

/* Under a dark theme an <img> would stay a light card. */
function inline(img, text) {
  const svg = picture(text);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", img.alt);
  svg.setAttribute("style", "max-width:100%;height:auto");
  img.replaceWith(svg);
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
