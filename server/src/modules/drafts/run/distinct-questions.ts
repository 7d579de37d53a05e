/** Share of common words from which two questions count as equal. */
const SAME_FROM = 0.8;

/**
 * Recognises near-duplicate questions: at least four of five words in common (Jaccard index). `add` returns
 * whether the question is new, and if so stores it.
 */
export function distinctQuestions(known: readonly string[]) {
  /** Number of words per question, and questions per word. */
  const sizes: number[] = [];
  const having = new Map<string, number[]>();
  const remember = (words: ReadonlySet<string>) => {
    for (const word of words) {
      const ids = having.get(word);
      if (ids) ids.push(sizes.length);
      else having.set(word, [sizes.length]);
    }
    sizes.push(words.size);
  };
  const isKnown = (words: ReadonlySet<string>): boolean => {
    const shared = new Uint32Array(sizes.length);
    for (const word of words) for (const id of having.get(word) ?? []) shared[id] = (shared[id] ?? 0) + 1;
    return sizes.some((size, id) => {
      const both = shared[id] ?? 0;
      return both >= SAME_FROM * (words.size + size - both);
    });
  };
  const add = (question: string): boolean => {
    const words = wordsOf(question);
    if (isKnown(words)) return false;
    remember(words);
    return true;
  };
  for (const question of known) remember(wordsOf(question));
  return { add };
}

function wordsOf(text: string): Set<string> {
  const lower = text.toLowerCase().normalize('NFKC');
  const words = lower.match(/[\p{L}\p{M}\p{N}]+/gu);
  // A question without words counts as one word.
  return new Set(words ?? [lower]);
}
