/** Start of a list printed by Python or NumPy that holds more than numbers and words. */
const PRINTED_LIST = /^\s*(?:array\(\s*)?[[(]\s*(?:array\(|[[{("'\]])/;
/**
 * Python and NumPy output that differs from JSON: quotes, words, tuples, arrays, items without commas. The
 * pattern avoids quadratic backtracking: an unclosed quote or a run of blanks is tried only once.
 */
const PRINTED =
  /(?<text>(?<!\\)(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"))|(?<gap>(?<=[\]}'"\w])\s+(?=[[{'"\w-]))|(?<none>\barray\(\s*|,\s*dtype=[^()]{0,64}\)|,\s*(?=[\]})]))|(?<word>\b(?:None|nan|NaN|True|False)\b)|(?<bracket>[()])/gs;
const WRITTEN = new Map([
  ['None', 'null'],
  ['nan', 'null'],
  ['NaN', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['(', '['],
  [')', ']'],
]);
const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gs;
const ESCAPES = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['\n', ''],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
]);
const LAST_CHARACTER = 0x10ffff;

/**
 * Parses the list written in a cell: csv has no lists, and pandas writes them as Python prints them.
 * Undefined for any other text. Keep in step with the runtime's `data/cells.py`.
 */
export function parseList(text: string): unknown[] | undefined {
  if (!/^\s*(\[|array\()/.test(text)) return undefined;
  const value = parse(text) ?? (isPrinted(text) ? parse(jsonOf(text)) : undefined);
  return Array.isArray(value) ? value : undefined;
}

function isPrinted(text: string): boolean {
  return PRINTED_LIST.test(text) && /[\])]$/.test(text.trimEnd());
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonOf(printed: string): string {
  return printed.replace(PRINTED, (...match) => {
    const [whole] = match;
    const { text, gap, none }: Record<string, string | undefined> = match.at(-1);
    if (text !== undefined) return quoted(text);
    if (gap !== undefined) return ',';
    return none === undefined ? (WRITTEN.get(whole) ?? whole) : '';
  });
}

/** Converts a Python string literal to a JSON string literal. */
function quoted(text: string): string {
  const plain = text.slice(1, -1).replace(ESCAPE, (whole, x, u, long, mark: string | undefined) => {
    if (mark !== undefined) return ESCAPES.get(mark) ?? whole;
    const code = Number.parseInt(x ?? u ?? long, 16);
    return code <= LAST_CHARACTER ? String.fromCodePoint(code) : whole;
  });
  return JSON.stringify(plain);
}
