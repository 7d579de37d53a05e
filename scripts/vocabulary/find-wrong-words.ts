/** The words of the table in docs/vocabulary.md that have another in their place, and which. Pure. */
export function readWrongWords(document: string): Map<string, string> {
  const words = new Map<string, string>();
  for (const line of document.split('\n')) {
    const [, word = '', , wrong = ''] = line.split('|').map((cell) => cell.trim());
    if (word === 'Word' || word.startsWith('--')) continue;
    for (const each of wrong.split(',').map((text) => text.trim())) if (each) words.set(each, word);
  }
  return words;
}

/** What is wrong with a text, a sentence each. Pure. */
export function findWrongWords(text: string, words: ReadonlyMap<string, string>): string[] {
  return [...words].flatMap(([wrong, right]) => {
    const isThere = new RegExp(`(?<![\\w-])${wrong}s?(?![\\w-])`, 'i').test(text);
    return isThere ? [`'${wrong}' is called '${right}': ${text.slice(0, 120)}`] : [];
  });
}

/** A text without the sentences that are specified, whose words stay as they are. Pure. */
export function withoutAll(text: string, sentences: readonly string[]): string {
  return sentences.reduce((rest, sentence) => rest.replaceAll(sentence, ''), text);
}

/** The prose of a page: without code. Pure. */
export function proseOf(page: string): string[] {
  return page
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
    .split('\n');
}
