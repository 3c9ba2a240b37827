// A pasted message holds what no page can: a reader's names, numbers, shapes and paths;
// and a question is asked in a reader's words. Sphinx wants every word of a query on a
// page. Here a page is as good as the words that it shares with the query, rare words
// more than common ones, and those of the section that answers most of all: of its
// heading and of the questions that it answers, which `sections.js` has.

const stemmer = new Stemmer();
const TITLE = 1.3; // a page's title counts for more than its other headings
const TOP = 0.8; // and a section is a better place to land than the page's beginning
const TOPIC = 2; // so few words are a subject, not a message
const MESSAGE = 6; // so many may be a message, which has a page on the shelf of errors
const SHELF = 1.3;
const QUESTION = 1.1; // and what is asked in a few words is rather on another page
const LONG = { page: 1, section: 1 }; // what a word tells that stands somewhere there
const SHORT = { page: 0.4, section: 3 };
const LEAST = 5; // what fits so many times worse than the best page is left out,
const SHOWN = 5; // where there are more pages than so many
const PAIR = 0.5; // of a word is a pair of Chinese characters, of which one word has several
const PART = 0.4; // of a longer word, such as "scatter" of "psum_scatter"
const NOWHERE = 2; // what a word counts that the book lacks
const MISSPELT = 4; // so long a word may have one wrong letter
const BEGIN = 1.1; // the page on which one begins is better than the best by so much
const WITHIN = 1 / 3; // of a question, what one begins with who asks it
// Where nothing fits: the first four ways into the book that this edition has, and a
// sentence that says so.
const WAYS = [
  "start/choose",
  "evidence/questions",
  "errors/which_message",
  "index",
  "learn/index",
  "vmap/what_it_does",
  "words",
];
const NOTHING = _(
  "No page has these words. The book is in English; a message is best pasted as it was printed. These pages lead to all others.",
);

// Where an error was raised says nothing of what it means. The field for a query takes
// the ends of lines away, so a traceback is one line.
const PLACES = [
  /Traceback \(most recent call last\):?/g,
  /File "[^"]*", line \d+(, in [\w.<>]+)?/g,
  /[~^]{2,}/g,
  /(?:[a-z]:)?[\w.~-]*[\\/][\w.\\/~<>-]+\.py(?::\d+)*/gi,
  /\b0x[0-9a-f]+/gi,
];

const HANZI = /^[\u3400-\u9fff]/;
const lengthOf = (words) => [...words].reduce((sum, word) => sum + (HANZI.test(word) ? PAIR : 1), 0);
const tells = (word) => !stopwords.has(word) && !/^\d+$/.test(word);
const stem = (word) => stemmer.stemWord(word);
const wordsOf = (text) => splitQuery(text.toLowerCase()).filter(tells).map(stem);
const pairs = (words) => words.slice(1).map((word, n) => `${words[n]} ${word}`);
const namesIn = (word) => word.split("_").filter((one) => one.length > 2 && tells(one));

// Other names for what the book has, from `synonyms.toml`, the longest first.
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const spaced = (name) => escaped(name).replace(/[ _-]/g, "[ _-]?"); // all-reduce, all reduce
const others = Object.entries(synonyms.words ?? {})
  .sort(([a], [b]) => b.length - a.length)
  .map(([name, words]) => [new RegExp(`(?<![\\w.])${spaced(name)}s?(?!\\w)`, "gi"), words]);

// A word that no page has, and a name above nearly so, is that name misspelt.
const names = new Set(Object.values(synonyms).flatMap((all) => Object.keys(all)).flatMap((name) => name.match(/\w+/g) ?? []));
function spelt(word) {
  if (word.length <= MISSPELT || prepared().files.has(stem(word.toLowerCase()))) return word;
  return [...names].find((name) => isSlip(word.toLowerCase(), name)) ?? word;
}

// Two or three words are a name of JAX where some page has it: all gather, all_gather.
const NAME = /[a-z]+[ -][a-z]+([ -][a-z]+)?/gi;
function named(words) {
  const parts = words.toLowerCase().split(/[ -]/);
  for (const end of [parts.length, 2]) {
    const name = parts.slice(0, end).join("_");
    if (prepared().files.has(stem(name))) return `${words} ${name}`;
  }
  return words;
}

// A question in the words of the book. Each part is replaced once: what stands there
// already waits as a private character.
function translated(query) {
  const put = [];
  query = query.normalize("NFC").replace(/\w+/g, spelt).replace(NAME, named);
  for (const [name, words] of others) {
    query = query.replace(name, () => String.fromCharCode(0xe000 + put.push(words) - 1));
  }
  return query.replace(/[\ue000-\uf8ff]/g, (one) => ` ${put[one.charCodeAt(0) - 0xe000]} `);
}

// The page on which one begins who asks so; its words may be in any order.
const key = (text) => [...new Set(wordsOf(text))].sort().join(" ");
const begins = new Map(Object.entries(synonyms.first ?? {}).map(([asked, page]) => [key(asked), page]));

// The page for the longest of these that is a good part of a question, if there is one.
function beginsWithin(words) {
  const asked = new Set(words);
  const within = [...begins].map(([known, page]) => [known.split(" "), page])
    .filter(([known]) => known.length > 1 && known.every((word) => asked.has(word)))
    .filter(([known]) => known.length >= WITHIN * asked.size);
  return within.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

// Sphinx puts what has the query in a heading above all else. Here headings are weighed
// with the rest, and `sections.js` has them.
const setIndex = Search.setIndex;
Search.setIndex = (index) => setIndex({ ...index, alltitles: {}, titleterms: {} });

// The anchor of a section: "#" stands for one that is made of the heading.
const anchorOf = (anchor, heading) =>
  anchor === "#" ? heading.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") : anchor;

// Made at the first query: which pages have a word; the headings and the questions; and
// which of these have a word.
const memory = {};
function prepared() {
  if (memory.texts) return memory;
  const { terms, titles, docnames } = Search._index;
  const files = new Map();
  for (const [word, pages] of Object.entries(terms)) {
    const having = new Set([pages].flat());
    if (having.size) files.set(word, having); // Sphinx keeps words that are on no page now
  }
  const texts = [];
  docnames.forEach((name, file) => {
    for (const [anchor, heading, ...questions] of sections[name] ?? []) {
      const id = anchorOf(anchor, heading) || null;
      for (const text of [heading, ...questions]) {
        const words = wordsOf(text);
        words.forEach((word) => files.set(word, (files.get(word) ?? new Set()).add(file)));
        texts.push({ words, file, id, heading, section: `${file}#${id ?? ""}` });
      }
    }
  });
  const rare = (word) => lengthOf([word]) * Math.log(1 + titles.length / files.get(word).size);
  const having = new Map();
  texts.forEach((text, n) => {
    text.all = text.words.reduce((sum, word) => sum + rare(word), 0);
    text.pairs = new Set(pairs(text.words));
    const note = (word, whole) => {
      const there = having.get(word) ?? new Map();
      having.set(word, there.set(n, Math.max(whole, there.get(n) ?? 0)));
    };
    for (const word of text.words) {
      note(word, 1);
      if (word.includes("_")) namesIn(word).forEach((one) => note(stem(one), PART));
    }
  });
  return Object.assign(memory, { files, texts, having });
}

// Whether two words differ by one letter: another, one more, or two exchanged.
function isSlip(one, other) {
  if (Math.abs(one.length - other.length) > 1) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const [a, b] = [one.slice(at), other.slice(at)];
  if (a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1)) return true;
  return a.length > 1 && a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
}

// The pages that have a word, its texts and whether as a whole word, and how much it
// tells; if no page has it, those of longer words, or of a word like it.
function lookUp(word) {
  const { files, having } = prepared();
  const part = lengthOf([word]);
  const weight = (pages) => part * Math.log(1 + Search._index.titles.length / pages.size);
  const exact = files.get(word);
  if (exact) return { pages: exact, weight: weight(exact), texts: having.get(word) ?? new Map() };
  let longer = word.length > 3 ? [...files.keys()].filter((one) => one.includes(word)) : [];
  if (!longer.length && word.length > MISSPELT) {
    longer = [...files.keys()].filter((one) => one.length > MISSPELT && isSlip(word, one));
  }
  if (!longer.length) return { pages: [], weight: 0, texts: new Map() };
  const pages = new Set(longer.flatMap((one) => [...files.get(one)]));
  const texts = new Map(longer.flatMap((one) => [...(having.get(one) ?? [])]));
  return { pages, weight: PART * weight(pages), texts };
}

// How well headings and questions fit: by the words that they share with the query, which
// should be much of the one or of the other, and stand in the same order.
function fits(words, found, all) {
  const shared = new Map();
  for (const { texts, weight } of found) {
    for (const [n, whole] of texts) shared.set(n, (shared.get(n) ?? 0) + whole * weight);
  }
  const order = pairs(words);
  return [...shared].map(([n, sum]) => {
    const text = memory.texts[n];
    const part = Math.min(1, sum / text.all);
    const inOrder = order.filter((pair) => text.pairs.has(pair)).length;
    return { ...text, fit: sum * (part + Math.max(part, sum / all)) + inOrder * 2 };
  });
}

Search.performTermsSearch = (terms) => {
  const { docnames, filenames, titles } = Search._index;
  const words = [...terms];
  const found = words.map(lookUp);
  const all = found.reduce((sum, { weight }, n) => sum + (weight || NOWHERE * lengthOf([words[n]])), 0);
  const share = lengthOf(words) < MESSAGE ? SHORT : LONG;
  const score = docnames.map(() => 0);
  // What all texts of a section have of the query together.
  const together = new Map();
  for (const { pages, texts, weight } of found) {
    pages.forEach((file) => (score[file] += share.page * weight));
    const sections = new Map();
    for (const [n, whole] of texts) {
      const { section } = memory.texts[n];
      sections.set(section, Math.max(whole, sections.get(section) ?? 0));
    }
    for (const [one, whole] of sections) together.set(one, (together.get(one) ?? 0) + whole * weight);
  }
  const best = docnames.map(() => ({ fit: 0, land: 0, id: null }));
  for (const { file, id, section, heading, fit } of fits(words, found, all)) {
    const more = (share.section * together.get(section) ** 2) / all;
    const worth = more + (id === null ? TITLE : 1) * fit;
    const land = (fit + more) * (id === null ? TOP : 1);
    const page = best[file];
    page.fit = Math.max(page.fit, worth);
    if (land > page.land) Object.assign(page, { land, id, heading });
  }
  const message = lengthOf(words) >= MESSAGE || words.some((w) => /\w(error|warn)$/.test(w));
  const shelf = message ? SHELF : lengthOf(words) <= TOPIC ? 1 / SHELF : 1 / QUESTION;
  docnames.forEach((name, file) => {
    score[file] += best[file].fit;
    if (name.startsWith("errors/")) score[file] *= shelf;
  });
  const begin = docnames.indexOf(begins.get([...words].sort().join(" ")));
  if (begin >= 0) {
    score[begin] = BEGIN * Math.max(...score);
    best[begin].id = null; // its beginning
  } else if (!words.some((word) => /error|warn/.test(word))) {
    const second = docnames.indexOf(beginsWithin(words));
    const others = [...score].filter((_, file) => file !== second).sort((a, b) => b - a);
    if (second >= 0 && score[second] < others[1]) {
      score[second] = (others[0] + others[1]) / 2;
      best[second].id = null;
    }
  }
  memory.nothing = !score.some((one) => one > 0);
  if (memory.nothing) {
    const ways = WAYS.map((name) => docnames.indexOf(name)).filter((file) => file >= 0);
    ways.slice(0, 4).forEach((file, n) => (score[file] = 1 / (n + 1)));
  }
  const ranked = [...score].sort((a, b) => b - a);
  const least = Math.min(ranked[0] / LEAST, ranked[SHOWN - 1] ?? 0);
  return docnames
    .map((name, file) => {
      const { heading, id } = best[file];
      const shown = id === null ? titles[file] : `${titles[file]} > ${heading}`;
      const anchor = id === null ? "" : `#${id}`;
      return [name, shown, anchor, null, score[file], filenames[file], SearchResultKind.text];
    })
    .filter((result) => result[4] > 0 && result[4] >= least);
};

const parse = Search._parseQuery;
Search._parseQuery = (query) => {
  const read = PLACES.reduce((text, place) => text.replace(place, " "), query);
  let parsed = parse(read);
  if (lengthOf(parsed[1]) < MESSAGE) parsed = parse(translated(read));
  if (SPHINX_HIGHLIGHT_ENABLED && lengthOf(parsed[1]) >= MESSAGE) {
    // Every word of a message, marked on a page, would hide the page.
    localStorage.removeItem("sphinx_highlight_terms");
  }
  parsed[3].clear(); // excerpts mark by themselves what was found
  return parsed;
};

// An excerpt is of the section's text: no headings, checks, or menus around the article.
const UNREAD = "h1, h2, h3, h4, .place, [data-older], .provenance, .no-search, .folded, script, style, svg";
const BLOCKS = "p, li, td, th, dt, dd, pre, div";
const LENGTH = 240;
// A pair of Chinese characters wherever one begins, and other words.
const WORDS = /(?=([\u3400-\u9fff]{2}))|(?:(?![\u3400-\u9fff])[\p{Letter}\p{Number}_])+/gu;

Search.htmlToText = (page, anchor) => {
  const article = new DOMParser().parseFromString(page, "text/html").querySelector("article");
  const part = (anchor && article?.querySelector(anchor)) || article;
  part?.querySelectorAll(UNREAD).forEach((one) => one.remove());
  part?.querySelectorAll(BLOCKS).forEach((one) => one.append(" "));
  return (part?.textContent ?? "").replace(/\s+/g, " ").trim();
};

// The passage that has most of the words, from the beginning of a word; they are marked.
Search.makeSearchSummary = (page, asked, anchor) => {
  const text = Search.htmlToText(page, anchor);
  if (!text) return null;
  const hits = [...text.matchAll(WORDS)]
    .map(({ 0: word, 1: pair, index }) => ({ 0: pair ?? word, index }))
    .filter(({ 0: word }) => [word, ...namesIn(word)].some((one) => asked.has(stem(one.toLowerCase()))));
  const within = (from) => hits.filter(({ index }) => index >= from && index < from + LENGTH);
  const worth = (from) => new Set(within(from).map(({ 0: word }) => stem(word.toLowerCase()))).size;
  const starts = hits.map(({ index }) =>
    Math.max(0, index - 80, text.lastIndexOf(" ", Math.max(0, index - 40)) + 1),
  );
  const from = starts.reduce((best, one) => (worth(one) > worth(best) ? one : best), starts[0] ?? 0);
  const end = Math.min(text.length, from + LENGTH);
  const made = document.createElement("p");
  made.className = "context";
  made.append(from ? "… " : "");
  let at = from;
  for (const { 0: word, index } of within(from)) {
    const begin = Math.max(at, index); // pairs of Chinese characters overlap
    if (begin >= index + word.length) continue;
    const mark = document.createElement("span");
    mark.className = "highlighted";
    mark.textContent = text.slice(begin, index + word.length);
    made.append(text.slice(at, begin), mark);
    at = index + word.length;
  }
  made.append(text.slice(at, Math.max(at, end)), end < text.length ? " …" : "");
  return made;
};

// A page that was opened from a folder may read no other.
if (globalThis.location?.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// What Sphinx says of the number of results, where they are none.
const saying = Documentation.ngettext;
Documentation.ngettext = (...said) => (memory.nothing ? NOTHING : saying(...said));

// In another language: the same query for the whole book.
for (const link of document.querySelectorAll(".all-pages a")) link.search = location.search;
