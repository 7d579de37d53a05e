/** Returns the words that docs/vocabulary.md replaces, with their replacements. */
export function readWrongWords(document: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const line of document.split('\n')) {
    const [, word = '', , wrong = ''] = line.split('|').map((cell) => cell.trim());
    if (word === 'Word' || word.startsWith('--')) continue;
    for (const each of wrong.split(',').map((text) => text.trim())) if (each) words.set(each, word);
  }
  return words;
}

/** Returns one sentence for each wrong word in a text. */
export function findWrongWords(text: string, words: ReadonlyMap<string, string>): string[] {
  return [...words].flatMap(([wrong, right]) => {
    const isThere = new RegExp(`(?<![\\w-])${wrong}s?(?![\\w-])`, 'i').test(text);
    return isThere ? [`'${wrong}' is called '${right}': ${text.slice(0, 120)}`] : [];
  });
}

/** Removes the specified sentences from a text, because their words must not change. */
export function withoutAll(text: string, sentences: readonly string[]): string {
  return sentences.reduce((rest, sentence) => rest.replaceAll(sentence, ''), text);
}

/** Returns the prose of a page, without its code. */
export function proseOf(page: string): string[] {
  return page
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
    .split('\n');
}
