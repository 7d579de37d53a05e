/** How a list begins that Python or NumPy has printed, and that holds more than numbers and words. */
const PRINTED_LIST = /^\s*(?:array\(\s*)?[[(]\s*(?:array\(|[[{("'\]])/;
/**
 * What Python and NumPy print otherwise than JSON has it: quotes and words, tuples, arrays, items without commas. No part
 * of a text is tried more than a few times: what is never closed is looked for once, and no run of blanks from each.
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
 * The list that is written in a cell: csv has no lists, and pandas writes them as Python prints them. Undefined where
 * there is none. The runtime reads the same, `data/cells.py`.
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

/** A text as Python prints it, in the quotes and escapes of JSON. */
function quoted(text: string): string {
  const plain = text.slice(1, -1).replace(ESCAPE, (whole, x, u, long, mark: string | undefined) => {
    if (mark !== undefined) return ESCAPES.get(mark) ?? whole;
    const code = Number.parseInt(x ?? u ?? long, 16);
    return code <= LAST_CHARACTER ? String.fromCodePoint(code) : whole;
  });
  return JSON.stringify(plain);
}
