import { CharSet } from 'refa';
import { type Automaton, NotEnforced } from './text-pattern.ts';

/** Maximum characters of a grammar. Model servers parse larger grammars too slowly. */
const LENGTH_MAX = 400_000;
/** Maximum schemas in all tools of one request. Their rules are built in under 50 ms on one core. */
const SCHEMAS_MAX = 5_000;
const MAX_CHARACTER = 0x10ffff;
const SURROGATES = CharSet.fromRange(MAX_CHARACTER, { min: 0xd800, max: 0xdfff });
/** Characters that JSON strings contain unescaped. */
const unescaped = CharSet.all(MAX_CHARACTER)
  .without(CharSet.fromRange(MAX_CHARACTER, { min: 0, max: 0x1f }))
  .without(CharSet.fromCharacters(MAX_CHARACTER, [0x22, 0x5c, 0x7f]))
  .without(SURROGATES);
const escapes: [string, string][] = [
  ['"', '"'],
  ['\\', '\\'],
  ['\n', 'n'],
  ['\r', 'r'],
  ['\t', 't'],
  ['\b', 'b'],
  ['\f', 'f'],
];

/** Rules that every grammar may use. Lengths are bounded, so that a model cannot write endlessly. */
const shared: Record<string, string> = {
  space: '"" | " " | "\\n" [ \\t]{0,20}',
  char: String.raw`[^"\\\x7F\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})`,
  string: '"\\"" char* "\\""',
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  number: 'integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?',
  boolean: '"true" | "false"',
  null: '"null"',
  value: 'object | array | string | number | boolean | null',
  member: 'string ":" space value',
  object: '"{" space (member ("," space member)*)? space "}"',
  array: '"[" space (value ("," space value)*)? space "]"',
};

/** The rules of a GBNF grammar, as llama.cpp and xgrammar read it. */
export class Rules {
  private readonly rules = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private readonly automata = new Map<Automaton, string>();
  private length = 0;
  private schemas = 0;

  /** Counts a schema. Throws NotEnforced above the maximum per request. */
  countSchema(): void {
    this.schemas += 1;
    if (this.schemas > SCHEMAS_MAX)
      throw new NotEnforced(`a request has more than ${SCHEMAS_MAX} schemas inside of schemas`);
  }

  /** Returns the name of the rule with this body. Adds the rule if it does not exist. */
  add(body: string): string {
    const known = this.names.get(body);
    if (known) return known;
    const name = `r${this.names.size}`;
    this.names.set(body, name);
    this.set(name, body);
    return name;
  }

  /** Returns a name for a recursive rule, whose body is set later. */
  reserve(): string {
    const name = `r${this.names.size}`;
    this.names.set(name, name);
    return name;
  }

  set(name: string, body: string): void {
    this.length += name.length + body.length;
    if (this.length > LENGTH_MAX) throw new NotEnforced('the schema is too large to be enforced');
    this.rules.set(name, body);
  }

  /**
   * Adds one rule per state, so that each text has exactly one parse. Returns null if the automaton accepts
   * no text.
   */
  automaton(dfa: Automaton, kind: 'text' | 'bare'): string | null {
    const known = this.automata.get(dfa);
    if (known) return known;
    const alive = livingStates(dfa, kind);
    if (!alive.has(dfa.initial)) return null;
    const names = new Map([...alive.keys()].map((state) => [state, this.reserve()]));
    for (const [state, edges] of alive) {
      const parts = edges.flatMap(([characters, to]) => {
        const next = names.get(to);
        return next ? [`${characters} ${next}`] : [];
      });
      if (dfa.finals.has(state)) parts.push(kind === 'text' ? '"\\""' : '""');
      this.set(names.get(state) ?? '', parts.join(' | '));
    }
    const first = names.get(dfa.initial) ?? '';
    const name = kind === 'text' ? this.add(`"\\"" ${first}`) : first;
    this.automata.set(dfa, name);
    return name;
  }

  toString(root: string): string {
    const all = [`root ::= ${root}`, ...[...this.rules].map(([name, body]) => `${name} ::= ${body}`)];
    return [...all, ...Object.entries(shared).map(([name, body]) => `${name} ::= ${body}`)].join('\n');
  }
}

type State = Automaton['initial'];

/** Returns the states from which a final state is reachable, with their outgoing edges. */
function livingStates(dfa: Automaton, kind: 'text' | 'bare'): Map<State, [string, State][]> {
  const edges = new Map<State, [string, State][]>();
  const before = new Map<State, State[]>();
  for (const state of dfa.nodes()) {
    const to = Map.groupBy(state.out, ([, next]) => next);
    const out: [string, State][] = [];
    for (const [next, links] of to) {
      const characters = CharSet.empty(MAX_CHARACTER).union(links.map(([range]) => range));
      const matched = kind === 'text' ? jsonCharacters(characters) : bareCharacters(characters);
      if (matched === null) continue;
      out.push([matched, next]);
      before.set(next, [...(before.get(next) ?? []), state]);
    }
    edges.set(state, out);
  }
  const alive = new Set<State>(dfa.finals);
  const open = [...alive];
  for (let state = open.pop(); state; state = open.pop())
    for (const earlier of before.get(state) ?? [])
      if (!alive.has(earlier)) {
        alive.add(earlier);
        open.push(earlier);
      }
  return new Map([...edges].filter(([state]) => alive.has(state)));
}

/** Returns how a character of a set is written in a JSON string; null if none can be. */
function jsonCharacters(characters: CharSet): string | null {
  const plain = characters.intersect(unescaped);
  const escaped = escapes.filter(([char]) => characters.has(char.charCodeAt(0))).map(([, letter]) => letter);
  const parts: string[] = [];
  if (!plain.isEmpty) parts.push(classOf(plain));
  if (escaped.length > 0)
    parts.push(`"\\\\" [${escaped.map((letter) => (letter === '\\' ? '\\\\' : letter)).join('')}]`);
  if (parts.length === 0) return null;
  return parts.length === 1 ? (parts[0] ?? null) : `(${parts.join(' | ')})`;
}

function bareCharacters(characters: CharSet): string | null {
  const plain = characters.without(SURROGATES);
  return plain.isEmpty ? null : classOf(plain);
}

function classOf({ ranges }: CharSet): string {
  const rangeTexts = ranges.map(({ min, max }) =>
    min === max ? charOf(min) : `${charOf(min)}-${charOf(max)}`,
  );
  return `[${rangeTexts.join('')}]`;
}

function charOf(code: number): string {
  const char = String.fromCodePoint(code);
  if (/[A-Za-z0-9]/.test(char)) return char;
  const hex = code.toString(16).toUpperCase();
  // Write a fixed number of digits: after \x, xgrammar reads as many hex digits as follow.
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Returns the text as a GBNF literal. */
export function literal(text: string): string {
  const escaped = text.replaceAll(/["\\\p{Cc}]/gu, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : charOf(char.charCodeAt(0)),
  );
  return `"${escaped}"`;
}
