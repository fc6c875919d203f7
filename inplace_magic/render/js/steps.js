/* The calls in their order: a scrubber, the timeline under it, and what follows them in the tables of the page.

   `now` is the index of a call, null for all of them; a step is what explorer.py says of a call. `act` has what a mark is
   to do: over(key), choose(key) and go(call). */
function stepper(state, act, on) {
  const { steps, words } = state, count = steps.length, last = count ? steps[count - 1][0] : 0;
  const range = quiet(make("input", { type: "range", min: 0, max: count, value: count, "aria-label": words.steps }));
  const said = make("span", {}), lanes = make("div", { class: "im-lanes" });
  const element = make("div", { class: "im-steps" }, words.steps, range, said);
  let marks = [], cursor = null, columns = [];
  if (state.timeline) {
    lanes.append(picture(state.timeline));
    quiet(lanes).setAttribute("tabindex", "0");
    marks = [...lanes.querySelectorAll("[data-c]")];
    cursor = lanes.querySelector(".now");
    const [calls, xs] = ["data-cs", "data-xs"].map((name) => (lanes.firstChild.getAttribute(name) || "").split(" ").map(Number));
    columns = calls.map((call, n) => [call, xs[n]]);
    for (const mark of marks) {
      on(mark, "mouseenter", () => act.over(key(mark)));
      on(mark, "mouseleave", () => act.over(null));
      on(mark, "click", () => { act.choose(key(mark)); act.go(Number(mark.getAttribute("data-c"))); });
    }
  }
  on(range, "input", () => {
    const n = Number(range.value);
    act.go(n >= count ? null : n ? steps[n - 1][0] : -1);
  });
  return {
    element, lanes,
    /* A call as `now`: the last one stands for all of them. */
    moment: (call) => (call === null || call === undefined || !count || call >= last ? null : call),
    at: (now) => (now === null ? null : steps.filter((step) => step[0] <= now).pop() || null),
    move(now, here) {
      range.value = now === null ? count : here ? steps.indexOf(here) + 1 : 0;
      range.setAttribute("aria-valuetext", here ? here[3] : words.all_steps);
    },
    light(now, here, lit) {
      for (const mark of marks) {
        mark.classList.toggle("im-later", now !== null && Number(mark.getAttribute("data-c")) > now);
        mark.classList.toggle("im-dim", lit !== null && mark.hasAttribute("data-k") && !lit.has(key(mark)));
      }
      if (cursor) {
        const column = now === null ? null : columns.filter(([call]) => call <= now).pop();
        cursor.setAttribute("visibility", column ? "visible" : "hidden");
        if (column) cursor.setAttribute("x", column[1] - cursor.getAttribute("width") / 2);
      }
      said.textContent = here ? here[3] : now === null ? words.all_steps : words.before;
    },
  };
}

/* The rows of the page's tables that follow the steps, each with the index of its call. */
function rowsOf(page, calls) {
  const rows = (name) => {
    const table = page.querySelector("table.im-" + name);
    return table ? [...table.tBodies[0].rows].map((row, n) => [row, (calls[name] || [])[n]]) : [];
  };
  return [...rows("lines"), ...rows("tensors")].filter(([, call]) => call !== undefined);
}
