import { CharSet, DFA, NFA } from 'refa';
import {
  type Automaton,
  both,
  guarded,
  NotEnforced,
  patternAutomaton,
  states,
  toDfa,
} from './text-pattern.ts';

type Limits = {
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
};

const options = { maxCharacter: 0x10ffff };
const character = (code: number) => CharSet.fromCharacter(options.maxCharacter, code);
const digit = (value: number) => character(0x30 + value);
const MINUS = character(0x2d);
const POINT = character(0x2e);
const DIGITS_MAX = 15;
/** Limits the size of the automaton, which has a state for every remainder of the division. */
const DIVISOR_MAX = 1_000;
const integers = String.raw`^(?:0|-?[1-9]\d{0,${DIGITS_MAX - 1}})$`;
const decimals = String.raw`^-?(?:0|[1-9]\d{0,${DIGITS_MAX - 1}})(?:\.\d{1,8})?$`;

/** Returns the automaton of numbers within limits, without exponents. Throws NotEnforced. */
export function numberAutomaton(limits: Limits, { isInteger }: { isInteger: boolean }): Automaton {
  return guarded('the range of a number', () => {
    let found = patternAutomaton(isInteger ? integers : decimals);
    const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = limits;
    if (minimum !== undefined) found = both(found, atLeast(minimum, true));
    if (exclusiveMinimum !== undefined) found = both(found, atLeast(exclusiveMinimum, false));
    if (maximum !== undefined) found = both(found, atMost(maximum, true));
    if (exclusiveMaximum !== undefined) found = both(found, atMost(exclusiveMaximum, false));
    if (multipleOf !== undefined) found = both(found, multiples(multipleOf));
    return found;
  });
}

function atLeast(bound: number, isInclusive: boolean): Automaton {
  const isFit = (order: number) => order > 0 || (isInclusive && order === 0);
  if (bound > 0) return compared(bound, isFit);
  return either(
    compared(0, () => true),
    negated(compared(-bound, (order) => isFit(-order))),
    bound === 0 && !isInclusive ? compared(0, isFit) : null,
  );
}

function atMost(bound: number, isInclusive: boolean): Automaton {
  const isFit = (order: number) => order < 0 || (isInclusive && order === 0);
  if (bound >= 0)
    return either(
      compared(bound, isFit),
      negated(compared(0, (order) => bound > 0 || isInclusive || order > 0)),
      null,
    );
  return negated(compared(-bound, (order) => isFit(-order)));
}

function either(positive: Automaton, negative: Automaton, instead: Automaton | null): Automaton {
  const all = NFA.fromFA(instead ?? positive);
  all.union(negative);
  return toDfa(all);
}

function negated(magnitude: Automaton): Automaton {
  const all = NFA.fromCharSet(MINUS);
  all.append(magnitude);
  return toDfa(all);
}

/** Formats a number in plain decimal, without JavaScript's exponents. */
function written(value: number): { whole: string; fraction: string } {
  const text = Math.abs(value).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 });
  const [whole = '0', fraction = ''] = text.split('.');
  return { whole, fraction };
}

/** Returns the unsigned numbers whose comparison with a non-negative bound passes `isFit`. */
function compared(bound: number, isFit: (order: number) => boolean): Automaton {
  const { whole, fraction } = written(bound);
  if (whole.length > DIGITS_MAX) return DFA.all(options);
  const builder = new DFA.Builder(states);
  const nodes = new Map<string, DFA.Node>();
  const node = (length: number, order: number, place: number): DFA.Node => {
    // `place` is -1 before the decimal point.
    const key = `${length} ${order} ${Math.min(place, fraction.length)}`;
    const known = nodes.get(key);
    if (known) return known;
    const made = length === 0 ? builder.initial : builder.createNode();
    nodes.set(key, made);
    const result = resultOf(length, order, place);
    if (length > 0 && isFit(result)) builder.makeFinal(made);
    for (let value = 0; value <= 9; value += 1) {
      if (place < 0 && length === DIGITS_MAX) break;
      const against = place < 0 ? whole[length] : (fraction[place] ?? '0');
      const next = order !== 0 || against === undefined ? order : Math.sign(value - Number(against));
      made.link(place < 0 ? node(length + 1, next, -1) : node(length, next, place + 1), digit(value));
    }
    if (place < 0 && length > 0) made.link(node(length, Math.sign(length - whole.length) || order, 0), POINT);
    return made;
  };
  const resultOf = (length: number, order: number, place: number): number => {
    const soFar = place < 0 ? Math.sign(length - whole.length) || order : order;
    const isShort = /[1-9]/.test(fraction.slice(Math.max(place, 0)));
    return soFar === 0 && isShort ? -1 : soFar;
  };
  node(0, 0, -1);
  return DFA.fromBuilder(builder, options);
}

function multiples(divisor: number): Automaton {
  const { whole, fraction } = written(divisor);
  const scaled = Number(whole + fraction);
  if (!(scaled > 0) || scaled > DIVISOR_MAX)
    throw new NotEnforced(`'multipleOf' is enforced up to ${DIVISOR_MAX} of its last digit`);
  const builder = new DFA.Builder(states);
  const nodes = new Map<string, DFA.Node>();
  /** `place` is -1 before the decimal point. */
  const node = (rest: number, place: number): DFA.Node => {
    const key = `${rest} ${place}`;
    const known = nodes.get(key);
    if (known) return known;
    const made = builder.createNode();
    nodes.set(key, made);
    if ((rest * 10 ** (fraction.length - Math.max(place, 0))) % scaled === 0) builder.makeFinal(made);
    for (let value = 0; value <= 9; value += 1)
      if (place < fraction.length)
        made.link(node((rest * 10 + value) % scaled, place < 0 ? -1 : place + 1), digit(value));
    if (place < 0 && fraction.length > 0) made.link(node(rest, 0), POINT);
    return made;
  };
  const first = node(0, -1);
  builder.initial.link(first, MINUS);
  for (let value = 0; value <= 9; value += 1) builder.initial.link(node(value % scaled, -1), digit(value));
  return DFA.fromBuilder(builder, options);
}
