/* Turns each graph picture above into a live one. The picture's own SVG is the only source; nothing is loaded. */
(function () {
  const SVG = "http://www.w3.org/2000/svg";
  const DRAWN = ["svg", "style", "g", "title", "path", "rect", "ellipse", "text"];
  const quiet = (el) => { el.setAttribute("data-lm-suppress-shortcuts", "true"); return el; };
  const make = (tag, css, text) => {
    const el = document.createElement(tag);
    el.style.cssText = css;
    el.textContent = text || "";
    return el;
  };

  function read(img) {
    const bytes = Uint8Array.from(atob(img.src.split(",")[1]), (c) => c.charCodeAt(0));
    const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml").documentElement;
    for (const el of [svg, ...svg.querySelectorAll("*")]) {
      if (el.namespaceURI !== SVG || !DRAWN.includes(el.localName)) el.remove();
      for (const a of [...el.attributes]) if (/^on|href/i.test(a.name)) el.removeAttribute(a.name);
    }
    return document.importNode(svg, true);
  }

  function live(img) {
    const svg = quiet(read(img));
    const [, , w, h] = svg.getAttribute("viewBox").split(/[ ,]+/).map(Number);
    const root = make("div", "max-width:100%");
    const bar = make("div", "display:flex;flex-wrap:wrap;gap:4px;align-items:center;margin:4px 0;font-size:12px");
    const note = make("div", "white-space:pre-wrap;min-height:3em;margin:4px 0;font-size:13px", "");
    note.setAttribute("role", "status");
    let x = 0, y = 0, k = 4 / 3, width = 0, height = 0;
    const draw = () => svg.setAttribute("viewBox", [x, y, width / k, height / k].join(" "));
    const zoom = (f, px = width / 2, py = height / 2) => {
      const next = Math.min(8, Math.max(0.05, k * f));
      x += px / k - px / next; y += py / k - py / next; k = next;
      draw();
    };
    const center = (cx, cy) => { x = cx - width / k / 2; y = cy - height / k / 2; draw(); };
    const fit = () => { k = Math.min(4 / 3, width / w, height / h); center(w / 2, h / 2); };
    const goTo = (node) => {
      const box = node.getBBox();
      center(box.x + box.width / 2, box.y + box.height / 2);
      x = Math.max(0, Math.min(x, w - width / k)); y = Math.max(0, Math.min(y, h - height / k));
      draw();
    };
    const resize = () => {
      const first = !width;
      width = root.clientWidth;
      if (!width) return;
      if (!first) return draw();
      const tallest = Math.max(400, innerHeight * 0.9);
      k = Math.min(4 / 3, width / w);
      height = Math.min(Math.max(h * k, 240), tallest);
      svg.style.height = height + "px";
      center(w / 2, h / 2);
      if (h * k > height && nodes.length) goTo(svg.querySelector(".guilty") || nodes[0]);
    };

    svg.removeAttribute("width");
    svg.removeAttribute("height");
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", img.alt);
    svg.style.cssText = img.style.cssText + ";display:block;width:100%;cursor:grab;touch-action:pan-y;user-select:none";

    const nodes = [...svg.querySelectorAll(".n")];
    const edges = [...svg.querySelectorAll(".e")];
    const key = (el) => el.getAttribute("data-k");
    const show = (node) => {
      const near = new Set([key(node)]);
      for (const e of edges) {
        const ends = [e.getAttribute("data-f"), e.getAttribute("data-t")];
        const on = ends.includes(key(node));
        e.style.opacity = on ? 1 : 0.25;
        if (on) ends.forEach((end) => near.add(end));
      }
      for (const n of nodes) n.style.opacity = near.has(key(n)) ? 1 : 0.35;
      note.textContent = node.querySelector("title").textContent;
    };
    const hide = () => [...nodes, ...edges].forEach((el) => { el.style.opacity = 1; });
    for (const node of nodes) {
      quiet(node).setAttribute("tabindex", "0");
      node.setAttribute("role", "img");
      node.setAttribute("aria-label", node.querySelector("title").textContent);
      node.addEventListener("mouseenter", () => show(node));
      node.addEventListener("mouseleave", hide);
      node.addEventListener("focus", () => show(node));
      node.addEventListener("blur", hide);
    }

    let drag = null;
    svg.addEventListener("pointerdown", (e) => { drag = [e.clientX, e.clientY]; svg.setPointerCapture(e.pointerId); });
    svg.addEventListener("pointermove", (e) => {
      if (!drag) return;
      x -= (e.clientX - drag[0]) / k; y -= (e.clientY - drag[1]) / k;
      drag = [e.clientX, e.clientY];
      draw();
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { drag = null; });
    svg.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      const box = svg.getBoundingClientRect();
      zoom(Math.exp(-e.deltaY / 300), e.clientX - box.left, e.clientY - box.top);
    }, { passive: false });
    const keys = {
      "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": fit,
      ArrowLeft: () => { x -= 40 / k; draw(); }, ArrowRight: () => { x += 40 / k; draw(); },
      ArrowUp: () => { y -= 40 / k; draw(); }, ArrowDown: () => { y += 40 / k; draw(); },
    };
    svg.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
      e.preventDefault(); e.stopPropagation();
      keys[e.key]();
    });

    const ink = "color:#1a1a1a;background:#fff;border:1px solid #777;border-radius:3px;padding:2px 8px;font-size:12px";
    for (const [text, label, act] of [
      ["+", "Zoom in", () => zoom(1.25)], ["−", "Zoom out", () => zoom(0.8)], ["Fit", "Show the whole graph", fit],
    ]) {
      const button = quiet(make("button", ink + ";cursor:pointer", text));
      button.type = "button";
      button.title = label;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
      bar.append(button);
    }
    const find = quiet(make("input", ink));
    find.placeholder = "find a tensor or call";
    find.setAttribute("aria-label", "Find a tensor or call in the graph");
    find.addEventListener("input", () => {
      const text = find.value.trim().toLowerCase();
      const hits = nodes.filter((n) => text && n.querySelector("title").textContent.toLowerCase().includes(text));
      for (const n of nodes) n.style.opacity = !text || hits.includes(n) ? 1 : 0.25;
      note.textContent = text ? hits.length + " found" : "";
      if (hits.length) goTo(hits[0]);
    });
    bar.append(find, make("span", "", "drag to move, Ctrl+wheel or + − 0 to zoom, hover or Tab for details"));
    root.append(bar, svg, note);
    img.replaceWith(root);
    new ResizeObserver(resize).observe(root);
    resize();
  }

  for (const img of document.querySelectorAll("img.inplace-magic-graph")) {
    try {
      live(img);
    } catch (error) {
      img.classList.remove("inplace-magic-graph");
      img.after(make("p", "", "The picture could not be made live: " + error + ". Please report it."));
    }
  }
})();
