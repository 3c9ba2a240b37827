// What the pages do by themselves: copying, and the header's menus.

const said = document.createElement("p");
said.className = "sr-only";
said.setAttribute("role", "status");
document.body.append(said);

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard, as on a page opened over plain HTTP.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

// The programs of this page, loaded once, at the first click; from a folder as well.
let loading;
function loaded() {
  loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    const root = document.documentElement.dataset.content_root;
    script.src = `${root}_static/programs/${DOCUMENTATION_OPTIONS.pagename}.js`;
    script.onload = () => done(window.programs); // whose name nothing here may have
    script.onerror = failed;
    document.head.append(script);
  });
  return loading;
}

function button(label, block, title, text) {
  const made = document.createElement("button");
  const show = (word) => {
    made.textContent = word;
    made.setAttribute("aria-label", `${word}: ${block}`);
  };
  made.type = "button";
  made.title = title;
  show(label);
  made.addEventListener("click", async () => {
    const copied = await Promise.resolve(text()).then(write).catch(() => false);
    said.textContent = copied ? _("Copied") : _("Not copied");
    show(copied ? _("Copied") : _("Not copied"));
    setTimeout(() => {
      show(label);
      said.textContent = "";
    }, 1500);
  });
  return made;
}

const blocks = document.querySelectorAll("article div[class*='highlight-'] > .highlight");
const KINDS = { cell: _("cell"), listing: _("listing"), code: _("code") };
let other = 0;
for (const highlighted of blocks) {
  const code = highlighted.querySelector("pre");
  if (!code || code.closest(".cell_output, .checks, .wordings")) continue;
  const block = highlighted.parentElement;
  const runnable = block.closest(".runnable")?.id;
  // "cell3" is cell 3 to whoever listens; other code is counted.
  const name = (runnable ?? `code${++other}`).replace(/^[a-z]+(?=\d)/, (word) => `${KINDS[word]} `);
  const bar = document.createElement("div");
  bar.className = "copy-bar";
  const shown = () => code.textContent.trimEnd() + "\n";
  bar.append(button(_("Copy"), name, _("Copy the code as it is shown"), shown));
  if (runnable) {
    const text = async () => (await loaded())[runnable];
    bar.append(
      block.closest(".silent")
        ? button(_("Copy with imports"), name, _("Copy it with everything it needs"), text)
        : button(_("Copy runnable"), name, _("Copy a program that runs alone, as it did here"), text),
    );
  }
  block.append(bar);
}

// A page's notebook and script are files to keep, whatever a browser could show of them.
for (const link of document.querySelectorAll(".dropdown-download-buttons a")) {
  if (/\.(ipynb|py)$/.test(link.getAttribute("href")) && !link.host.includes("colab")) {
    link.download = "";
    link.removeAttribute("target");
  }
}

// The header's menus open on a click and close on Escape or on a click elsewhere.
for (const toggle of document.querySelectorAll("[data-bs-toggle='dropdown']")) {
  const menu = toggle.parentElement;
  const show = (open) => {
    toggle.classList.toggle("show", open);
    menu.querySelector(".dropdown-menu").classList.toggle("show", open);
    toggle.setAttribute("aria-expanded", open);
  };
  show(false);
  toggle.addEventListener("click", () => show(!toggle.classList.contains("show")));
  addEventListener("click", (event) => menu.contains(event.target) || show(false));
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !toggle.classList.contains("show")) return;
    show(false);
    toggle.focus();
  });
}

// The same page with another release of JAX, where the site has one.
const versions = window.versions;
const start = document.documentElement.dataset.content_root + versions.root;
const place = document.querySelector(".place");
for (const [release, folder] of place ? versions.all : []) {
  if (release === versions.here) continue;
  const link = document.createElement("a");
  link.href = `${start}${folder}${DOCUMENTATION_OPTIONS.pagename}.html`;
  link.textContent = `JAX ${release}`;
  place.append(_(" · with "), link);
}

// Sphinx marks a word that was searched for in the title of a figure, too, and asks where
// that lies.
SVGElement.prototype.getBBox ??= () => new DOMRect();

// The whole book in one file, where the site has it.
if (versions.archive) {
  const link = document.createElement("a");
  link.href = start + versions.archive;
  link.textContent = _("Read it offline (.zip)");
  document.querySelector(".bd-footer-content .copyright").append(" ", link, _("."));
}

// The theme folds the contents while margin notes are in view, also where there are none.
if (!document.querySelector(".bd-sidebar-secondary")) {
  const none = document.createElement("div");
  none.className = "bd-sidebar-secondary";
  none.hidden = true;
  document.body.append(none);
}
