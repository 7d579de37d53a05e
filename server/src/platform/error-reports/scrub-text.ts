const LENGTH_MAX = 300;

/** A quotation mark; an apostrophe within a word is none. */
const QUOTE = String.raw`(?:["\x60“”‘]|(?<!\w)['’]|['’](?!\w))`;

const rules: [RegExp, string][] = [
  // Quotations hold user input: a prompt, a row of a file, a value. Up to the last mark, since the input may contain
  // some itself.
  [new RegExp(`${QUOTE}.*${QUOTE}`, 'su'), '[…]'],
  // A quotation that was truncated has no end.
  [new RegExp(`${QUOTE}.*$`, 'su'), '[…]'],
  [/\b(password|passwd|secret|token|api[_-]?key|cookie|authorization)\b\s*[=:]\s*.*/gisu, '$1=[…]'],
  [/\b(bearer|basic)\s+\S+/giu, '$1 […]'],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S+/giu, '[url]'],
  [/\S+@\S+/gu, '[address]'],
  [/\b(?:bk|sk|pk|rk|hf|whsec|ghp|xox[a-z])[_-]\S+/giu, '[secret]'],
  // Our own ids stay: they identify no person.
  [
    /(?<![\w-])(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))(?=[^\s\d]*\d)[\w+-]{20,}/giu,
    '[secret]',
  ],
];

/**
 * Removes from the text of an error what users have sent, keys and addresses. Removes rather too much than too
 * little: the stack says where it happened. Pure.
 */
export function scrubText(text: string): string {
  const scrubbed = rules.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text.slice(0, 10_000));
  return scrubbed.length > LENGTH_MAX ? `${scrubbed.slice(0, LENGTH_MAX)}…` : scrubbed;
}
