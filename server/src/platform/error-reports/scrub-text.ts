const LENGTH_MAX = 300;

/** A quotation mark; an apostrophe within a word does not count. */
const QUOTE = String.raw`(?:["\x60“”‘]|(?<!\w)['’]|['’](?!\w))`;

const rules: [RegExp, string][] = [
  // Quotations hold user input: a prompt, a row of a file, a value. Match up to the last mark, since the
  // input may contain quotation marks.
  [new RegExp(`${QUOTE}.*${QUOTE}`, 'su'), '[…]'],
  // A truncated quotation has no closing mark.
  [new RegExp(`${QUOTE}.*$`, 'su'), '[…]'],
  [/\b(password|passwd|secret|token|api[_-]?key|cookie|authorization)\b\s*[=:]\s*.*/gisu, '$1=[…]'],
  [/\b(bearer|basic)\s+\S+/giu, '$1 […]'],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S+/giu, '[url]'],
  [/\S+@\S+/gu, '[address]'],
  [/\b(?:bk|sk|pk|rk|hf|whsec|ghp|xox[a-z])[_-]\S+/giu, '[secret]'],
  // Keep our own ids: they identify no person.
  [
    /(?<![\w-])(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))(?=[^\s\d]*\d)[\w+-]{20,}/giu,
    '[secret]',
  ],
];

/**
 * Removes user input, keys and addresses from an error message. Prefers to remove too much, because the stack
 * shows where the error happened.
 */
export function scrubText(text: string): string {
  const scrubbed = rules.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text.slice(0, 10_000));
  return scrubbed.length > LENGTH_MAX ? `${scrubbed.slice(0, LENGTH_MAX)}…` : scrubbed;
}
