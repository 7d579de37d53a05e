import { type AST, RegExpParser, visitRegExpAST } from '@eslint-community/regexpp';
import { CharSet, DFA, JS, NFA } from 'refa';

/** The strings that a constraint allows, as an automaton over code points. */
export type Automaton = DFA;

/** Carries a sentence for the caller: why a constraint cannot be enforced. */
export class NotEnforced extends Error {}

type Position = 'start' | 'inside' | 'unknown';

const LENGTH_MAX = 2_000;
/** Maximum states of one string in the grammar. */
const STATES_MAX = 2_000;
/**
 * Maximum states and links that one request may build. Within it, a hostile request takes under 50 ms on one
 * core.
 */
const BUILT_MAX = 20_000;
const MAX_CHARACTER = 0x10ffff;
const options = { maxCharacter: MAX_CHARACTER };
const any = CharSet.all(MAX_CHARACTER);

let built = 0;

/** Returns true if this request may not build any more states. */
export function isExhausted(): boolean {
  return built > BUILT_MAX;
}

function count(work: number): void {
  built += work;
  if (isExhausted()) throw new Error('too many states');
}

/** Counts links as well as states, because nested repetitions have few states and many links. */
class CountedNodes<Node extends { link: (to: Node, via: CharSet) => void }> {
  private readonly create: () => Node;

  constructor(create: () => Node) {
    this.create = create;
  }

  createNode(): Node {
    count(1);
    const node = this.create();
    const link = node.link.bind(node);
    node.link = (to, via) => {
      // A character range costs about an eighth of a link.
      count(1 + via.ranges.length / 8);
      link(to, via);
    };
    return node;
  }
}

const nodes = new CountedNodes(() => NFA.nodeFactory.createNode());
export const states = new CountedNodes(() => DFA.nodeFactory.createNode());

/** Resets the count for a request. A request builds all its automata synchronously. */
export function resetWorkBudget(): void {
  built = 0;
}

const nothing = () => NFA.empty(options);
const anyText = () => NFA.all(options);

/**
 * Returns the strings in which an ECMAScript pattern matches anywhere, as in JSON Schema. Throws NotEnforced.
 */
export function patternAutomaton(pattern: string): Automaton {
  if (pattern.length > LENGTH_MAX) throw new NotEnforced(`'pattern' has more than ${LENGTH_MAX} characters`);
  return guarded("'pattern'", () => {
    const parser = parse(pattern);
    const { alternatives } = parser.ast.pattern;
    const found = new Reader(parser).alternatives(alternatives, anyText(), 'start');
    if (alternatives.every(isAnchored)) return toDfa(found);
    const later = new Reader(parser).alternatives(alternatives, anyText(), 'inside');
    const before = NFA.fromCharSet(any);
    before.quantify(1, Number.POSITIVE_INFINITY);
    later.prepend(before, nodes);
    found.union(later, nodes);
    return toDfa(found);
  });
}

/** Builds an automaton. Throws NotEnforced with the constraint's name if it needs too many states. */
export function guarded<Result>(name: string, build: () => Result): Result {
  try {
    // Throws before parsing if earlier constraints of the request have used up the budget.
    count(0);
    return build();
  } catch (error) {
    if (error instanceof NotEnforced) throw error;
    if (error instanceof Error && error.name === 'SyntaxError')
      throw new NotEnforced(`${name} is not a regular expression of ECMAScript: ${error.message}`);
    throw new NotEnforced(`${name} needs too many states to be enforced`);
  }
}

export function both(left: Automaton, right: Automaton): Automaton {
  return minimized(DFA.fromIntersection(left, right, states));
}

/** Returns the strings with `least` to `most` characters. */
export function lengthAutomaton(least: number, most: number): Automaton {
  const characters = NFA.fromCharSet(any);
  characters.quantify(least, most, nodes);
  return toDfa(characters);
}

export function oneOf(texts: string[]): Automaton {
  const words = texts.map((text) => Array.from(text, (one) => one.codePointAt(0) ?? 0));
  return DFA.fromWords(words, options, states);
}

export function otherThan(texts: string[]): Automaton {
  return complement(oneOf(texts));
}

/** Returns the strings that do not contain a text. */
export function without(text: string): Automaton {
  return complement(patternAutomaton(text));
}

function complement(dfa: Automaton): Automaton {
  dfa.complement(states);
  return minimized(dfa);
}

export function toDfa(nfa: NFA): Automaton {
  const read = nfa.transitionIterator();
  const getOut = (node: NFA.ReadonlyNode) => {
    const out = read.getOut(node);
    count(out.size);
    return out;
  };
  return minimized(DFA.fromTransitionIterator({ ...read, getOut }, options, states));
}

function minimized(dfa: DFA): Automaton {
  dfa.minimize();
  dfa.removeUnreachable();
  if (dfa.countNodes() > STATES_MAX) throw new Error('too many states');
  return dfa;
}

function parse(pattern: string): JS.Parser {
  // Other dialects allow these escapes, ECMAScript's Unicode mode does not.
  const source = pattern.replaceAll(/\\(.)/gsu, (escape, char: string) =>
    /[!"#%&',:;<=>@_`~ -]/.test(char) ? `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}` : escape,
  );
  const parser = new RegExpParser({ ecmaVersion: 2025 });
  return JS.Parser.fromAst({
    pattern: parser.parsePattern(source, 0, source.length, { unicode: true }),
    flags: parser.parseFlags('u'),
  });
}

function isAnchored({ elements: [first] }: AST.Alternative): boolean {
  return first?.type === 'Assertion' && first.kind === 'start';
}

function hasAssertion(node: AST.Node): boolean {
  let found = false;
  visitRegExpAST(node, {
    onAssertionEnter: () => {
      found = true;
    },
  });
  return found;
}

/**
 * Reads a pattern from its end to its start. Each part is put before the automaton of everything that may
 * follow. An assertion can then be expressed as an intersection with what follows.
 */
class Reader {
  private readonly parser: JS.Parser;

  constructor(parser: JS.Parser) {
    this.parser = parser;
  }

  alternatives(all: AST.Alternative[], rest: NFA, position: Position): NFA {
    const found = nothing();
    for (const one of all) found.union(this.alternative(one, rest, position), nodes);
    return found;
  }

  private alternative({ elements }: AST.Alternative, rest: NFA, position: Position): NFA {
    const positions: Position[] = [];
    let at = position;
    for (const element of elements) {
      positions.push(at);
      if (at !== 'inside') at = this.positionAfter(element, at);
    }
    let found = rest;
    for (const [index, element] of [...elements.entries()].reverse())
      found = this.element(element, found, positions[index] ?? 'unknown');
    return found;
  }

  private positionAfter(element: AST.Element, at: Position): Position {
    if (element.type === 'Assertion') return at;
    if (hasAssertion(element)) return 'unknown';
    const own = this.plain(element);
    if (!own.finals.has(own.initial)) return 'inside';
    return own.initial.out.size === 0 ? at : 'unknown';
  }

  private element(element: AST.Element, rest: NFA, position: Position): NFA {
    if (!hasAssertion(element)) {
      const own = this.plain(element);
      own.append(rest, nodes);
      return own;
    }
    if (element.type === 'Assertion') return this.assertion(element, rest, position);
    if (element.type === 'Group' || element.type === 'CapturingGroup')
      return this.alternatives(element.alternatives, rest, position);
    if (element.type === 'Quantifier' && element.max === 1) {
      const found = this.element(element.element, rest, position);
      if (element.min === 0) found.union(rest, nodes);
      return found;
    }
    throw new NotEnforced(`'pattern' has an assertion inside of the repetition ${quoted(element.raw)}`);
  }

  private assertion(assertion: AST.Assertion, rest: NFA, position: Position): NFA {
    if (assertion.kind === 'start') {
      if (position === 'unknown') throw new NotEnforced("'pattern' has a ^ that is not at its beginning");
      return position === 'start' ? rest : nothing();
    }
    if (assertion.kind === 'end') return rest.finals.has(rest.initial) ? NFA.emptyWord(options) : nothing();
    if (assertion.kind !== 'lookahead')
      throw new NotEnforced(`'pattern' has ${quoted(assertion.raw)}, which is not enforced`);
    const ahead = toDfa(this.alternatives(assertion.alternatives, anyText(), position));
    if (assertion.negate) ahead.complement();
    return NFA.fromIntersection(ahead, rest, nodes);
  }

  /** Returns the automaton of an element without assertions. */
  private plain(element: AST.Element): NFA {
    if (element.type === 'Backreference')
      throw new NotEnforced(`'pattern' has ${quoted(element.raw)}, which is not enforced`);
    const { expression } = this.parser.parseElement(element, { maxBackreferenceWords: 0 });
    return NFA.fromRegex(expression, options, {}, nodes);
  }
}

function quoted(text: string): string {
  return `'${text.slice(0, 40)}'`;
}
