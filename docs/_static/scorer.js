// Pages whose titles hold more of the query come first; Sphinx takes one word's score.
var Scorer = {
  score: ([, title, , , score]) => {
    const stemmer = new Stemmer();
    const words = (text) =>
      new Set((text.toLowerCase().match(/\w+/g) ?? []).map((w) => stemmer.stemWord(w)));
    const asked = words(new URLSearchParams(location.search).get("q") ?? "");
    const named = words(title);
    const shared = [...named].filter((word) => asked.has(word)).length;
    return score + (30 * shared) / (asked.size || 1) + (20 * shared) / (named.size || 1);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
