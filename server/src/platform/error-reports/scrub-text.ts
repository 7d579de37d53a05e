const LENGTH_MAX = 300;

/** A quotation mark; an apostrophe within a word is none. */
const QUOTE = String.raw`(?:["\x60“”‘]|(?<!\w)['’]|['’](?!\w))`;

const rules: [RegExp, string][] = [
  // What is quoted is what somebody sent: a prompt, a row of a file, a value. Up to the last mark, since it may have some itself.
  [new RegExp(`${QUOTE}.*${QUOTE}`, 'su'), '[…]'],
  // One that was cut has no end.
  [new RegExp(`${QUOTE}.*$`, 'su'), '[…]'],
  [/\b(password|passwd|secret|token|api[_-]?key|cookie|authorization)\b\s*[=:]\s*.*/gisu, '$1=[…]'],
  [/\b(bearer|basic)\s+\S+/giu, '$1 […]'],
  [/\b[a-z][a-z0-9+.-]*:\/\/\S+/giu, '[url]'],
  [/\S+@\S+/gu, '[address]'],
  [/\b(?:bk|sk|pk|rk|hf|whsec|ghp|xox[a-z])[_-]\S+/giu, '[secret]'],
  // Ids of ours stay: they say nothing of a person.
  [
    /(?<![\w-])(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))(?=[^\s\d]*\d)[\w+-]{20,}/giu,
    '[secret]',
  ],
];

/**
 * The text of an error as it may leave this installation: without what people have sent, keys and addresses. Rather
 * too little stays than too much: where it happened is in the stack. Pure.
 */
export function scrubText(text: string): string {
  const scrubbed = rules.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text.slice(0, 10_000));
  return scrubbed.length > LENGTH_MAX ? `${scrubbed.slice(0, LENGTH_MAX)}…` : scrubbed;
}
