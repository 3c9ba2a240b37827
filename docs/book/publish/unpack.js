// In front of the packed index: makes of it what the search of Sphinx asks for.
((p, marks) => {
  const terms = {};
  const alltitles = {};
  const every = p.s.split("\n");
  let word = "";
  p.w.split("\n").forEach((line, nth) => {
    word = word.slice(0, Number(line[0])) + line.slice(1);
    const steps = every[nth];
    const there = new Set();
    let file = -1;
    let skipped = 1;
    for (const mark of steps.replace("!", "")) {
      if (mark === "~") {
        skipped += marks.length;
      } else {
        there.add((file += skipped + marks.indexOf(mark)));
        skipped = 1;
      }
    }
    const most = steps.startsWith("!");
    terms[word] = p.d.map((_, n) => n).filter((n) => there.has(n) !== most);
  });
  // As docutils makes an address of a heading.
  const slug = (text) => {
    const plain = text.toLowerCase().normalize("NFKD").replace(/[^\x00-\x7f]/g, "");
    return plain.replace(/[^a-z0-9]+/g, "-").replace(/^[-0-9]+|-+$/g, "");
  };
  const add = (text, file, id) => (alltitles[text] ??= []).push([file, id]);
  const asked = [];
  p.h.forEach((all, file) => {
    let heading = p.n[file];
    let section = null;
    for (const line of all ? all.split("\n") : []) {
      const [text, second] = line.split("\t");
      if (text) {
        heading = text;
        add(text, file, (section = second ?? slug(text)));
      } else {
        asked.push({ words: second, file, id: section, heading });
      }
    }
  });
  p.n.forEach((title, file) => add(title, file, null));
  const none = { titleterms: {}, indexentries: {}, objects: {}, objnames: {}, objtypes: {} };
  const filenames = p.d.map((name) => `${name}.md`);
  return { docnames: p.d, filenames, titles: p.n, alltitles, terms, asked, ...none };
})
