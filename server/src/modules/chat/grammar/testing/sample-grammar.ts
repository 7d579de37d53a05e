/** Chooses one of `count` options. */
type Choose = (count: number) => number;

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(\[(?:[^\]\\]|\\.)*\])|([A-Za-z][\w-]*)|(\{\d+,?\d*\})|([()|*+?]))/y;

/** Returns a text that a GBNF grammar accepts; `choose` decides at every branch. */
export function sampleGrammar(grammar: string, choose: Choose): string {
  const rules = new Map<string, string[]>();
  for (const line of grammar.split('\n')) {
    const [name = '', body = ''] = line.split(/ ::= (.*)/s);
    rules.set(name, tokens(body));
  }
  const rule = (name: string): string => {
    const body = rules.get(name);
    if (!body) throw new Error(`the grammar has no rule ${name}`);
    return alternatives([...body]);
  };
  const alternatives = (rest: string[]): string => {
    const options: string[][] = [[]];
    for (let depth = 0; rest.length > 0; ) {
      const token = rest.shift() ?? '';
      depth += token === '(' ? 1 : token === ')' ? -1 : 0;
      if (token === '|' && depth === 0) options.push([]);
      else options.at(-1)?.push(token);
    }
    return sequence(options[choose(options.length)] ?? []);
  };
  const sequence = (rest: string[]): string => {
    let text = '';
    while (rest.length > 0) {
      const token = rest.shift() ?? '';
      let inner: string[] = [];
      if (token === '(') {
        for (let depth = 1; depth > 0; ) {
          const next = rest.shift() ?? ')';
          depth += next === '(' ? 1 : next === ')' ? -1 : 0;
          if (depth > 0) inner.push(next);
        }
      }
      for (let left = times(rest, choose); left > 0; left -= 1)
        text += token === '(' ? alternatives([...inner]) : terminal(token);
    }
    return text;
  };
  const terminal = (token: string): string => {
    if (token.startsWith('"')) return unescaped(token.slice(1, -1)).join('');
    return token.startsWith('[') ? member(token.slice(1, -1), choose) : rule(token);
  };
  return rule('root');
}

/** Returns the functions that a grammar allows an answer to call, and whether it allows several calls. */
export function callsOf(grammar: unknown): { names: string[]; isMany: boolean } {
  const text = typeof grammar === 'string' ? grammar : '';
  const names = [...text.matchAll(/"\\"([\w-]+)\\"" "," space "\\"arguments/g)].map(([, name]) => name ?? '');
  return { names, isMany: text.startsWith('root ::= "["') };
}

function tokens(body: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(body); match; match = TOKEN.exec(body)) found.push(match[0].trim());
  return found;
}

function times(rest: string[], choose: Choose): number {
  const [next = ''] = rest;
  const bounds = /^\{(\d+)(,?)(\d*)\}$/.exec(next);
  if (!bounds && !['*', '+', '?'].includes(next)) return 1;
  rest.shift();
  if (!bounds) return next === '?' ? choose(2) : choose(3) + (next === '+' ? 1 : 0);
  const [, least = '0', comma, most] = bounds;
  if (!comma) return Number(least);
  const upTo = most ? Number(most) : Number(least) + 2;
  return Number(least) + choose(upTo - Number(least) + 1);
}

function unescaped(text: string): string[] {
  const named: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
  const all = text.matchAll(/\\x([0-9A-F]{2})|\\u([0-9A-F]{4})|\\U([0-9A-F]{8})|\\(.)|([^\\])/gsu);
  return [...all].map(([, x, u, U, escaped, plain]) => {
    const code = x ?? u ?? U;
    return code
      ? String.fromCodePoint(Number.parseInt(code, 16))
      : (plain ?? named[escaped ?? ''] ?? escaped ?? '');
  });
}

function member(characters: string, choose: Choose): string {
  if (characters.startsWith('^')) return 'aZ9 ✓'[choose(4)] ?? 'a';
  const ranges =
    characters.match(/(?:\\x..|\\u.{4}|\\U.{8}|\\.|[^\\])(?:-(?:\\x..|\\u.{4}|\\U.{8}|\\.|[^\\]))?/gsu) ?? [];
  const range = ranges[choose(ranges.length)] ?? '';
  const [first = '', , last = first] = unescaped(range);
  const [min, max] = [first.codePointAt(0) ?? 0, (range.length > 1 ? last : first).codePointAt(0) ?? 0];
  return String.fromCodePoint(min + choose(max - min + 1));
}
