/** Digits of a number that JavaScript may round, or an exponent that may overflow. */
const MAYBE_ROUNDED = /\d{16}|\d[eE]\+?\d{2}/;

/** TypeScript does not know these JSON features yet. */
const exactJson: {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
} = Object(JSON);

/** Like JSON.parse, except that numbers which JavaScript would round are returned as JSON.rawJSON. */
export function parseExactly(text: string): unknown {
  if (!MAYBE_ROUNDED.test(text)) return JSON.parse(text);
  return exactJson.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || source === undefined) return value;
    const isRounded = !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
    return isRounded ? exactJson.rawJSON(source) : value;
  });
}
