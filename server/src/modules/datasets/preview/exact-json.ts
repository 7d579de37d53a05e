/** Matches digits of a number that JavaScript may round, or an exponent that may overflow. */
const MAYBE_ROUNDED = /\d{16}|\d[eE]\+?\d{2}/;

/** TypeScript's types do not include these features of JSON yet. */
const exactJson: {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
} = Object(JSON);

/** Like JSON.parse, but returns numbers that JavaScript would round as JSON.rawJSON. */
export function parseExactly(text: string): unknown {
  if (!MAYBE_ROUNDED.test(text)) return JSON.parse(text);
  return exactJson.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    const isRounded = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
    return isRounded ? exactJson.rawJSON(source) : value;
  });
}
