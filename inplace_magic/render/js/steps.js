/* A timeline of ours that comes as text, see timeline.py. */
const TABLE = "div p table tbody tr th td a b".split(" ");
const lanesIn = (text) => ours(new DOMParser().parseFromString(text, "text/html").body.firstChild, document.body.namespaceURI, TABLE);

/* The calls in their order: a scrubber, the timeline, and what follows them in the tables of the page.

   `now` is the index of a call, null for all of them; a step is what explorer.py says of a call. `lanes` is the timeline, or
   null; `act` has what a cell of it is to do: over(key), choose(key) and go(call). */
function stepper(state, lanes, act, on) {
  const { steps, words } = state, count = steps.length, last = count ? steps[count - 1][0] : 0;
  const range = quiet(make("input", { type: "range", min: 0, max: count, value: count, "aria-label": words.steps }));
  const said = make("span", {});
  const element = make("div", { class: "im-steps" }, words.steps, range, said);
  const marks = lanes ? [...lanes.querySelectorAll("[data-c]")] : [], columns = marks.filter((mark) => mark.closest(".im-axis"));
  const callOf = (mark) => Number(mark.getAttribute("data-c"));
  for (const mark of marks) {
    on(mark, "mouseenter", () => act.over(key(mark)));
    on(mark, "mouseleave", () => act.over(null));
    on(mark, "click", () => { act.choose(key(mark)); act.go(callOf(mark)); });
  }
  on(range, "input", () => {
    const n = Number(range.value);
    act.go(n >= count ? null : n ? steps[n - 1][0] : -1);
  });
  return {
    element,
    /* A call as `now`: the last one stands for all of them. */
    moment: (call) => (call === null || call === undefined || !count || call >= last ? null : call),
    at: (now) => (now === null ? null : steps.filter((step) => step[0] <= now).pop() || null),
    move(now, here) {
      range.value = now === null ? count : here ? steps.indexOf(here) + 1 : 0;
      range.setAttribute("aria-valuetext", here ? here[3] : words.all_steps);
    },
    light(now, here, lit) {
      for (const mark of marks) {
        mark.classList.toggle("im-later", now !== null && callOf(mark) > now);
        mark.classList.toggle("im-lit", lit !== null && mark.hasAttribute("data-k") && lit.has(key(mark)));
      }
      const column = now === null ? null : columns.filter((each) => callOf(each) <= now).pop();
      columns.forEach((each) => each.classList.toggle("im-hot", each === column));
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
