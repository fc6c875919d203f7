/* The widget in the browser, after explorer.js in one module: anywidget calls `render` for each place that shows it.

   Python sends `state` and sets `selected` and `step`; a person's clicks go back by the same traits. What the kernel must
   do for us is switched on when it has answered, so that a saved widget does not offer it. */
function render({ model, el }) {
  const off = [], undraw = [];
  const listen = (target, name, act) => { target.on(name, act); off.push(() => target.off(name, act)); };
  const send = (name, value) => { model.set(name, value); model.save_changes(); };
  const words = () => model.get("state").widget;
  const tools = make("div", { class: "im-bar" }), note = make("span", { role: "status" }), place = make("div");
  const answer = make("div", { role: "status" });
  const root = make("div", { class: "im-x im-themed im-widget" }, tools, place);
  let handle = null, alive = false;

  const control = (tag, label, type, act, ...children) => {
    const made = quiet(make(tag, { "aria-label": label }, ...children));
    made.addEventListener(type, act);
    undraw.push(() => made.removeEventListener(type, act));
    made.disabled = !alive;
    return made;
  };
  const choice = (label, name, options, chosen) => {
    const made = control("select", label, "change", () => send(name, options[made.selectedIndex][0]),
      ...options.map(([, text]) => make("option", {}, text)));
    made.selectedIndex = options.findIndex(([value]) => value === chosen);
    return make("label", {}, label + " ", made);
  };

  function drawTools() {
    undraw.splice(0).forEach((act) => act());
    const w = words(), { reports, problem, foldable } = model.get("state");
    const shown = [];
    if (reports.length > 1) shown.push(choice(w.report, "shown", reports.map((text, n) => [n, text]), model.get("shown")));
    if (!problem) {
      if (foldable) shown.push(choice(w.detail, "detail", ["overview", "normal", "detailed"].map((each) => [each, w[each]]),
        model.get("detail")));
      if (model.get("expanded").length) shown.push(control("button", w.fold, "click", () => send("expanded", []), w.fold));
    }
    const { fix } = model.get("state");
    if (fix) {
      const said = model.get("state").words;
      const copy = control("button", said.copy, "click", async () => {
        try {
          await navigator.clipboard.writeText(fix);
          note.textContent = said.copied;
        } catch (refused) {
          note.textContent = fix;
        }
      }, said.copy);
      copy.disabled = false;  /* it needs no kernel */
      shown.push(copy);
    }
    tools.replaceChildren(...shown, note);
  }

  /* What a tensor holds is asked for, and told, where its facts stand. */
  function values(key, heading) {
    if (key[0] !== "T" || !alive) return;
    if (answer.dataset.k !== key) answer.textContent = "";
    answer.dataset.k = key;
    const ask = quiet(make("button", {}, words().values));
    ask.addEventListener("click", () => model.send({ type: "values", key }));
    heading.append(" ", ask, answer);
  }

  function draw() {
    const inside = place.contains(document.activeElement), state = model.get("state");
    const sought = handle ? handle.find.value : "";
    if (handle) handle.destroy();
    handle = null;
    drawTools();
    note.textContent = state.problem || (alive ? "" : words().no_kernel);
    if (state.problem) return;
    handle = mount(place, state, {
      onSelect: (key) => send("selected", key),
      onStep: (call) => send("step", call),
      onExpand: (key) => { if (alive) send("expanded", [...model.get("expanded"), key]); },
      extra: values,
    });
    handle.select(model.get("selected"));
    handle.step(model.get("step"));
    handle.find.value = sought;
    if (sought) handle.search();
    const first = place.querySelector("g.n[tabindex='0']");
    if (inside && first) first.focus();
  }

  listen(model, "change:state", draw);
  listen(model, "change:selected", () => { if (handle) handle.select(model.get("selected")); });
  listen(model, "change:step", () => { if (handle) handle.step(model.get("step")); });
  listen(model, "msg:custom", (message) => {
    if (message.type === "values") answer.textContent = message.text;
    if (message.type === "hello" && !alive) {
      alive = true;
      draw();
    }
  });
  el.append(root);
  try {
    draw();
  } catch (error) {
    place.replaceChildren(String(error));
  }
  model.send({ type: "hello" });
  return () => {
    [...off, ...undraw].forEach((act) => act());
    if (handle) handle.destroy();
    handle = null;
    root.remove();
  };
}
export default { render };
