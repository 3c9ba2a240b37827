// A pasted message holds what no page can: a reader's names, numbers, shapes and paths.
// Sphinx wants every word of a query on a page. Here a page is as good as the words that
// it shares with the query, rare words more than common ones, and those of its headings
// most of all, where they follow each other as they do in the query.

const stemmer = new Stemmer();
const TITLE = 1.3; // a page's title counts for more than its other headings
const TOPIC = 2; // so few words are a subject, not a message
const MESSAGE = 6; // so many may be a message, which has a page on the shelf of errors
const SHELF = 1.3;

// Where an error was raised says nothing of what it means. The field for a query takes
// the ends of lines away, so a traceback is one line.
const PLACES = [
  /Traceback \(most recent call last\):?/g,
  /File "[^"]*", line \d+(, in [\w.<>]+)?/g,
  /[~^]{2,}/g,
  /(?:[a-z]:)?[\w.~-]*[\\/][\w.\\/~<>-]+\.py(?::\d+)*/gi,
  /\b0x[0-9a-f]+/gi,
];

function wordsOf(text) {
  const words = splitQuery(text.toLowerCase()).filter((w) => !stopwords.has(w) && !/^\d+$/.test(w));
  return words.map((word) => stemmer.stemWord(word));
}

const many = (files) => (files === undefined ? [] : [files].flat());
const has = (table, word) => (Object.hasOwn(table, word) ? many(table[word]) : []);
const pairs = (words) => new Set(words.slice(1).map((word, n) => `${words[n]} ${word}`));

// Each word of the query -> the pages that say it, and how much that tells.
function lookUp(words) {
  const { terms, titleterms, docnames } = Search._index;
  const found = new Map();
  for (const word of words) {
    let files = new Set([...has(terms, word), ...has(titleterms, word)]);
    let part = 1;
    if (!files.size && word.length > 3) {
      const longer = Object.keys(terms).filter((term) => term.includes(word));
      files = new Set(longer.flatMap((term) => many(terms[term])));
      part = 0.4;
    }
    const weight = files.size && part * Math.log(1 + docnames.length / files.size);
    found.set(word, { files, weight });
  }
  return found;
}

// How well a heading fits: by the words that it shares with the query, which should be
// much of the one or of the other, and stand in the same order.
function fit(heading, asked, weigh, all) {
  const words = wordsOf(heading);
  const sum = (some) => some.reduce((total, word) => total + weigh(word), 0);
  const shared = sum([...new Set(words)].filter((word) => asked.has(word)));
  const inOrder = [...pairs(words)].filter((pair) => asked.pairs.has(pair));
  const part = shared / (sum(words) || 1);
  return shared * (part + Math.max(part, shared / (all || 1))) + inOrder.length * 2;
}

Search.performTermsSearch = (terms) => {
  const { docnames, filenames, titles, alltitles } = Search._index;
  const asked = new Set(terms);
  asked.pairs = pairs([...terms]);
  const found = lookUp(asked);
  const weigh = (word) => found.get(word)?.weight ?? Math.log(1 + docnames.length);
  const all = [...asked].reduce((sum, word) => sum + weigh(word), 0);
  const score = new Array(docnames.length).fill(0);
  for (const { files, weight } of found.values()) files.forEach((file) => (score[file] += weight));
  const best = score.map(() => ({ fits: 0, id: null }));
  for (const [heading, places] of Object.entries(alltitles)) {
    const fits = fit(heading, asked, weigh, all);
    for (const [file, id] of places) {
      const title = titles[file] === heading;
      const worth = title ? TITLE * fits : fits;
      if (worth > best[file].fits) best[file] = { fits: worth, id: title ? null : id, heading };
    }
  }
  const message = asked.size >= MESSAGE || [...asked].some((w) => /\w(error|warn)$/.test(w));
  const shelf = message ? SHELF : asked.size <= TOPIC ? 1 / SHELF : 1;
  docnames.forEach((name, file) => {
    score[file] += best[file].fits;
    if (name.startsWith("errors/")) score[file] *= shelf;
  });
  const least = Math.max(...score) / 3;
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
  const parsed = parse(PLACES.reduce((text, place) => text.replace(place, " "), query));
  if (SPHINX_HIGHLIGHT_ENABLED && parsed[1].size >= MESSAGE) {
    // Every word of a message, marked on a page, would hide the page.
    parsed[3].clear();
    localStorage.removeItem("sphinx_highlight_terms");
  }
  return parsed;
};
