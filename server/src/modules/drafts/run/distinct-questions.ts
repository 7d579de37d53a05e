/** Of the words of two questions, those in both: from here on they ask the same. */
const SAME_FROM = 0.8;

/**
 * Remembers questions, and knows one that asks nearly the same: with the same words, or four of five of them (Jaccard's index).
 * `add` answers whether the question is new, and remembers it then.
 */
export function distinctQuestions(known: readonly string[]) {
  /** How many words each question has, and which questions have a word. */
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
  // Of signs alone the whole is one word.
  return new Set(words ?? [lower]);
}
