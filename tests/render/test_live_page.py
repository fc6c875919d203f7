"""The page of a report in a browser: the picture is live."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from builders import sigmoid_report
from render.elements import Elements
from render.samples import hostile_report

from inplace_magic.render.page import explorer
from inplace_magic.render.page.html import to_page
from inplace_magic.widgets.report_widget import LiveView

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium on the PATH")
def test_where_scripts_run_the_picture_becomes_live_and_keeps_the_keys_for_itself(tmp_path: Path):
    body = in_browser(tmp_path, to_page(sigmoid_report()))

    assert "inplace-magic-graph" not in body
    assert "could not be made live" not in body
    assert re.search(r'aria-label="T4 probs\W+S4\W+v0 float32\[8\]"', body.replace("&nbsp;", " "))
    focusable = re.findall(r"<(?:button|input|[a-z]+\b[^>]* tabindex=)[^>]*>", body)
    assert len(focusable) >= 4 + 10
    assert all('data-lm-suppress-shortcuts="true"' in tag for tag in focusable)


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium on the PATH")
def test_the_live_picture_tells_details_on_focus_and_zooms_with_the_keyboard(tmp_path: Path):
    steps = """
    const svg = document.querySelector(".im-x svg"), width = () => svg.getAttribute("viewBox").split(" ")[2];
    const guilty = svg.querySelector(".guilty");
    const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const panel = () => document.querySelector(".im-facts").textContent;
    const lit = () => [...svg.querySelectorAll(".n:not(.im-dim)")].map((n) => n.getAttribute("data-k")).join(" ");
    const hot = () => [...document.querySelectorAll(".im-code .im-hot")].map((row) => row.textContent).join(" ");
    guilty.focus(); say("panel", panel()); say("line", hot()); say("lit", lit());
    say("width", width()); press("+"); say("closer", width()); press("0"); say("fitted", width());
    press("ArrowDown"); say("below", document.activeElement.getAttribute("data-k"));
    press("Enter"); document.activeElement.blur(); say("pinned", panel());
    svg.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })); say("free", panel());
    """

    said = told(tmp_path, to_page(sigmoid_report()), steps)

    for word in ("Tensor.__setitem__", "overwritten here", "Cell In[7], line 6", "probs[2] = 2.0"):
        assert word in said["panel"]
    assert said["line"] == "6probs[2] = 2.0✎ overwritten here"
    assert said["lit"].split() == ["C3", "T4@v0", "C4", "T4@v1"]
    assert float(said["closer"]) < float(said["width"]) <= float(said["fitted"])
    assert said["below"] == "T4@v1"
    assert "v0→v1" in said["pinned"]
    assert "v0→v1" not in said["free"]


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium on the PATH")
@pytest.mark.parametrize("asked", [True, False])
def test_nothing_moves_by_itself_where_the_reader_asked_for_less_motion(tmp_path: Path, asked: bool):
    steps = """
    const all = [...document.querySelectorAll(".im-x *")].map((each) => getComputedStyle(each));
    say("moving", all.filter((look) => !/^(0s|none)/.test(look.transitionDuration)).length);
    """

    said = told(tmp_path, to_page(sigmoid_report()), steps, *["--force-prefers-reduced-motion"] * asked)

    assert (said["moving"] == 0) is asked


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium on the PATH")
def test_scrubbing_steps_through_graph_lines_and_tables(tmp_path: Path):
    steps = """
    const range = document.querySelector(".im-steps input");
    const go = (n) => { range.value = n; range.dispatchEvent(new Event("input")); };
    const later = () => [...document.querySelectorAll(".n.im-later")].map((n) => n.getAttribute("data-k")).join(" ");
    say("all", later()); go(5); say("later", later());
    say("line", document.querySelector(".im-code .im-hot").textContent);
    say("row", document.querySelector("tr.im-hot").textContent);
    say("dimmed", document.querySelectorAll("tr.im-past").length);
    go(7); say("end", later() + document.querySelectorAll("tr.im-past, tr.im-hot").length);
    """

    said = told(tmp_path, to_page(sigmoid_report()), steps)

    assert said["all"] == ""
    assert sorted(said["later"].split()) == ["C5", "C6", "T5@v0"]
    assert said["line"] == "6probs[2] = 2.0✎ overwritten here"
    assert "mutated in place v0→v1" in said["row"]
    assert int(said["dimmed"]) >= 2
    assert said["end"] == "0"


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium on the PATH")
def test_nothing_is_left_after_the_end_of_the_live_view(tmp_path: Path):
    root = '<div id="root"></div><p style="color:#1A1A1A" id="text">text</p>'
    state = json.dumps(LiveView(hostile_report()).state()).replace("<", "\\u003c")
    script = f"""
    {explorer.script()}
    const root = document.getElementById("root"), before = document.body.outerHTML, said = [];
    const handle = mount(root, {state}, {{ page: document.body, onSelect: (key) => said.push(key) }});
    const node = document.querySelector(".guilty"), svg = node.closest("svg");
    handle.select("C4"); const pressed = node.getAttribute("aria-pressed"); handle.step(2); handle.select(null);
    node.dispatchEvent(new MouseEvent("click", {{ bubbles: true }}));
    handle.destroy();
    node.dispatchEvent(new MouseEvent("click", {{ bubbles: true }}));
    svg.dispatchEvent(new KeyboardEvent("keydown", {{ key: "Escape", bubbles: true }}));
    const same = document.body.outerHTML.replace(' class=""', "") === before;
    document.getElementById("text").textContent = JSON.stringify({{ pressed, said, same }});
    """

    body = in_browser(tmp_path, f"<!DOCTYPE html><body>{root}<script>{script}</script></body>")

    assert json.loads(html_text(body)) == {"pressed": "true", "said": ["C4"], "same": True}


def html_text(body: str) -> str:
    return Elements(body).text.strip()


def told(folder: Path, page: str, steps: str, *flags: str) -> dict[str, Any]:
    """What `steps` said by ``say(name, text)`` once the page was live."""
    script = f"""
    const said = {{}}, say = (name, text) => {{ said[name] = text; }};
    const begin = () => {{
      if (!document.querySelector(".im-x")) {{ setTimeout(begin, 20); return; }}
      try {{ {steps} }} catch (error) {{ say("error", String(error)); }}
      const pre = document.createElement("pre");
      pre.id = "said"; pre.textContent = encodeURIComponent(JSON.stringify(said)); document.body.append(pre);
    }};
    begin();
    """
    body = in_browser(folder, page.replace("</body>", f"<script>{script}</script></body>"), *flags)
    said = json.loads(urllib.parse.unquote(body[body.index('<pre id="said">') + 15 :].split("</pre>")[0]))
    assert "error" not in said, said
    return said


def in_browser(folder: Path, page: str, *flags: str) -> str:
    """The body's markup after the page's scripts have run, without the scripts."""
    (folder / "page.html").write_text(page, encoding="utf-8")
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
        "--virtual-time-budget=10000",
        *flags,
        *("--disable-background-networking", "--disable-component-update", "--disable-quic", "--dump-dom"),
        *(f"--user-data-dir={folder / 'profile'}", (folder / "page.html").as_uri()),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    return re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)
