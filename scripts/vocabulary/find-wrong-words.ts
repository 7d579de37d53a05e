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

/** What is wrong with a text, a sentence each; nothing of what the specification says itself. Pure. */
export function findWrongWords(
  text: string,
  words: ReadonlyMap<string, string>,
  isSpecified: (text: string) => boolean = () => false,
): string[] {
  return [...words].flatMap(([wrong, right]) => {
    const isThere = new RegExp(`(?<![\\w-])${wrong}s?(?![\\w-])`, 'i').test(text);
    return isThere && !isSpecified(text) ? [`'${wrong}' is called '${right}': ${text.slice(0, 120)}`] : [];
  });
}

/** Whether a text of a program is one that people read, and no name, key or class. Pure. */
export function isSentence(text: string): boolean {
  return /^\p{Lu}/u.test(text) && /\s/.test(text);
}

/** The prose of a page: without code. Pure. */
export function proseOf(page: string): string[] {
  return page
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '')
    .split('\n');
}
