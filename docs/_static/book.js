// Copying: the cell as it stands, and the program that runs it alone.

const said = document.createElement("p");
said.className = "sr-only";
said.setAttribute("role", "status");
document.body.append(said);

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard access, as on a page opened over plain HTTP.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.dataset.label;
  button.textContent = "Copied";
  said.textContent = `Copied: ${label}`;
  setTimeout(() => (button.textContent = label), 1500);
}

function button(label, title, text) {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.label = made.textContent = label;
  made.title = title;
  made.addEventListener("click", () => copy(text(), made));
  return made;
}

// The program of a block is in a template beside it.
function program(block) {
  const inside = block.closest(".cell_input")?.querySelector("template.runnable");
  const wrapper = block.closest(".literal-block-wrapper") ?? block;
  const next = wrapper.nextElementSibling;
  return inside ?? next?.querySelector(":scope > template.runnable") ?? null;
}

for (const code of document.querySelectorAll("article div.highlight > pre")) {
  const block = code.closest("div[class*='highlight-']");
  if (!block || block.closest(".cell_output")) continue;
  const bar = document.createElement("div");
  bar.className = "copy-bar";
  const shown = () => code.textContent.trimEnd() + "\n";
  bar.append(button("Copy", "Copy the code as it is shown", shown));
  const runnable = program(block);
  if (runnable) {
    const text = () => runnable.content.textContent;
    const title = "Copy it as a program with everything it needs; it was run alone";
    bar.append(button("Copy runnable", title, text));
  }
  block.after(bar);
}

// What scrolls can be reached from the keyboard.
function reachable() {
  for (const box of document.querySelectorAll("article pre, article .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", "Scrolls sideways");
    }
  }
}
reachable();
addEventListener("resize", reachable);
