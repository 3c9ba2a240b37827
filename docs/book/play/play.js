// Lessons that can be edited and run, in a kernel of this page's own.

{
  const found = JSON.parse(document.currentScript.dataset.devices);
  const element = (name, its) => Object.assign(document.createElement(name), its);
  const status = element("p", { className: "sr-only", role: "status" });
  document.body.append(status);

  async function ask(path, method = "GET", body = undefined) {
    const token = document.cookie.match(/\b_xsrf=([^;]*)/)?.[1] ?? "";
    const answer = await fetch(`/api/kernels${path}`, {
      method,
      body,
      headers: { "X-XSRFToken": token, "Content-Type": "application/json" },
      keepalive: method === "DELETE",
    });
    if (!answer.ok) throw new Error(`Jupyter's server says ${answer.status}`);
    return answer.status === 204 ? null : answer.json();
  }

  // A kernel, and the messages of what it runs.
  class Kernel {
    static async start() {
      const made = new Kernel();
      const { id } = await ask("", "POST", JSON.stringify({ name: "python3" }));
      Object.assign(made, { id, session: crypto.randomUUID(), asked: new Map() });
      const at = `${location.host}/api/kernels/${made.id}/channels?session_id=${made.session}`;
      made.socket = new WebSocket(`ws://${at}`);
      made.socket.onmessage = (event) => made.hear(JSON.parse(event.data));
      made.socket.onclose = () => made.asked.forEach(({ fail }) => fail(new Error("the kernel is gone")));
      await new Promise((done, fail) => {
        made.socket.onopen = done;
        made.socket.onerror = () => fail(new Error("no connection to the kernel"));
      });
      addEventListener("pagehide", () => ask(`/${made.id}`, "DELETE"));
      return made;
    }

    run(code, show) {
      const id = crypto.randomUUID();
      const header = { msg_id: id, msg_type: "execute_request", session: this.session };
      Object.assign(header, { username: "", version: "5.3", date: new Date().toISOString() });
      const content = { code, silent: false, store_history: true, allow_stdin: false, stop_on_error: false };
      const message = { header, parent_header: {}, metadata: {}, content, channel: "shell" };
      return new Promise((done, fail) => {
        this.asked.set(id, { show, done, fail, failed: false });
        this.socket.send(JSON.stringify(message));
      });
    }

    hear({ header, parent_header: parent, content }) {
      const one = this.asked.get(parent.msg_id);
      if (!one) return;
      if (header.msg_type === "error") one.failed = true;
      if (header.msg_type === "status" && content.execution_state === "idle") {
        this.asked.delete(parent.msg_id);
        one.done(!one.failed);
      } else one.show(header.msg_type, content);
    }
  }

  const plain = (text) => text.replace(/\x1b\[[0-9;]*m/g, ""); // without colours

  // What a message shows, below a cell.
  function shown(type, content) {
    const made = element(content.data?.["image/png"] ? "img" : "pre");
    const data = content.data ?? {};
    if (type === "stream") made.textContent = plain(content.text);
    else if (type === "error") {
      const trace = element("details");
      trace.append(element("summary", { textContent: "Traceback" }), plain(content.traceback.join("\n")));
      made.append(`${content.ename}: ${content.evalue}`, trace);
      made.className = "failed";
    } else if (made.tagName === "IMG") {
      made.src = `data:image/png;base64,${data["image/png"]}`;
      made.alt = data["text/plain"] ?? "";
    } else if (data["text/plain"]) made.textContent = plain(data["text/plain"]);
    else return null;
    return made;
  }

  // What an exercise knows of a mistake of which `check` says this.
  function known(block, said) {
    const same = (text) => text.replace(/^check says: | …$|\s+/g, " ").trim();
    return [...document.querySelectorAll(`#${block.id} ~ .mistakes .says`)]
      .filter((one) => same(said).startsWith(same(one.textContent)))
      .map((one) => `A known mistake: ${one.previousElementSibling.textContent}`)
      .map((textContent) => element("p", { textContent }));
  }

  // The lessons of the page; above the first runs what its notebook begins with.
  const cells = [];
  let kernel;

  class Lesson {
    constructor(block, above, raises) {
      Object.assign(this, { block, above, raises, ran: null });
      this.code = block.querySelector(".cell_input pre, pre");
      this.name = block.id.replace(/\d/, " $&");
      const spoken = { role: "textbox", ariaMultiLine: "true", ariaLabel: `${this.name}; Shift+Enter runs it` };
      Object.assign(this.code, { contentEditable: "plaintext-only", spellcheck: false, ...spoken });
      this.code.addEventListener("keydown", (event) => this.key(event));
      const title = "Run it, and first what it needs above; Shift+Enter";
      this.button = element("button", { type: "button", title });
      this.button.addEventListener("click", () => (this.busy ? this.stop() : run(this)));
      this.label("Run");
      block.querySelector(".copy-bar").prepend(this.button);
    }

    get text() {
      return this.code.innerText.trimEnd();
    }

    label(word) {
      this.button.textContent = word;
      this.button.setAttribute("aria-label", `${word}: ${this.name}`);
    }

    key(event) {
      event.stopPropagation(); // the arrow keys turn no page here
      if (event.key !== "Enter") return;
      event.preventDefault();
      if (event.shiftKey || event.ctrlKey) return run(this);
      const at = getSelection().getRangeAt(0).cloneRange();
      at.setStart(this.code, 0);
      const line = at.toString().split("\n").pop();
      const deeper = line.trimEnd().endsWith(":") ? "    " : "";
      document.execCommand("insertText", false, `\n${line.match(/^ */)[0]}${deeper}`);
    }

    stop() {
      ask(`/${kernel.id}/interrupt`, "POST");
    }

    // Run it, and say whether the lessons below may go on.
    async execute() {
      this.block.querySelectorAll(".cell_output, .told").forEach((old) => old.remove());
      const out = element("div", { className: "cell_output docutils container told" });
      this.block.append(out);
      const show = (type, content) => {
        out.append(shown(type, content) ?? "");
        if (type === "error") out.append(...known(this.block, content.evalue));
      };
      this.busy = true;
      this.label("Stop");
      try {
        for (const code of this.above) await kernel.run(code, show);
        this.above = [];
        const text = this.text;
        const fine = await kernel.run(text, show);
        this.ran = text;
        if (!out.childElementCount) out.remove();
        return fine || this.raises;
      } finally {
        this.busy = false;
        this.label("Run");
      }
    }
  }

  async function run(lesson) {
    status.textContent = `Running ${lesson.name}`;
    try {
      kernel ??= await Kernel.start();
      for (const above of cells.slice(0, cells.indexOf(lesson))) {
        if (above.ran === above.text) continue;
        if (!(await above.execute())) {
          status.textContent = `${above.name}, above, failed`;
          return above.code.focus();
        }
      }
      const fine = await lesson.execute();
      status.textContent = `${lesson.name} ${fine ? "has run" : "failed"}`;
    } catch (error) {
      kernel = undefined;
      cells.forEach((one) => (one.ran = null));
      status.textContent = `Not run: ${error.message}`;
      lesson.block.append(shown("stream", { text: `Not run: ${error.message}` }));
    }
  }

  // On eight devices of its own, a machine simulates none.
  const simulated = /^jax\.config\.update\("jax_(platforms|num_cpu_devices)".*$/gm;
  const real = found.platform !== "cpu" && found.count >= 8;
  const own = (code) => (real ? code.replace(simulated, "") : code);

  fetch(location.pathname.replace(/\.html$/, ".ipynb"))
    .then((answer) => answer.json())
    .then(({ cells: all }) => {
      // What a lesson takes from examples/ is imported here, as the page shows it.
      let above = [own([].concat(all[0].source).join(""))];
      for (const { id, metadata } of all) {
        const block = document.getElementById(id);
        if (!block?.matches(".runnable")) continue;
        const raises = metadata.tags?.includes("raises-exception");
        cells.push(new Lesson(block, above, raises));
        above = [];
      }
    });
}
