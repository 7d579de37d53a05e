/** A constant plus weighted names. */
type Sum = { constant: number; weights: Map<string, number> };

/** A formula that is not a weighted sum; the message explains why. */
export class FormulaError extends Error {}

const TOKEN = /\s*(?:(\d+(?:\.\d*)?|\.\d+)|([A-Za-z_]\w*)|([-+*/()]))/y;

/**
 * Returns the weight of each name in a formula such as `0.8 * correct + 0.2 * polite`, made of numbers,
 * names, + - * / and parentheses. Throws FormulaError with a message that follows the field's name.
 */
export function readWeights(formula: string, names: readonly string[]): Map<string, number> {
  const { constant, weights } = sumOf(tokensOf(formula), names);
  if (constant !== 0) throw new FormulaError(`adds ${constant}, which no answer can earn: leave it out`);
  return new Map(names.map((name) => [name, weights.get(name) ?? 0]));
}

function tokensOf(formula: string): string[] {
  const tokens: string[] = [];
  const text = formula.trimEnd();
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) throw new FormulaError(`cannot be read from '${text.slice(at, at + 20)}' on: ${ALLOWED}`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

const ALLOWED = 'it must be a weighted sum of the graders, such as 0.8 * correct + 0.2 * polite';

/** Recursive descent by operator precedence. */
function sumOf(tokens: readonly string[], names: readonly string[]): Sum {
  let at = 0;
  const take = (...wanted: string[]) => {
    const token = tokens[at];
    if (token === undefined || !wanted.includes(token)) return null;
    at += 1;
    return token;
  };
  const sum = (): Sum => {
    let total = product();
    for (let sign = take('+', '-'); sign; sign = take('+', '-'))
      total = plus(total, times(product(), sign === '-' ? -1 : 1));
    return total;
  };
  const product = (): Sum => {
    let total = factor();
    for (let sign = take('*', '/'); sign; sign = take('*', '/'))
      total = sign === '*' ? multiplied(total, factor()) : times(total, 1 / divisor(factor()));
    return total;
  };
  const factor = (): Sum => {
    const sign = take('-', '+');
    if (sign) return times(factor(), sign === '-' ? -1 : 1);
    if (take('(')) {
      const inner = sum();
      if (!take(')')) throw new FormulaError(`does not close its brackets: ${ALLOWED}`);
      return inner;
    }
    return valueOf(tokens[at++], names);
  };
  const total = sum();
  if (at < tokens.length) throw new FormulaError(`cannot be read at '${tokens[at]}': ${ALLOWED}`);
  return total;
}

function valueOf(token: string | undefined, names: readonly string[]): Sum {
  if (token !== undefined && names.includes(token)) return { constant: 0, weights: new Map([[token, 1]]) };
  const constant = Number(token);
  if (token !== undefined && Number.isFinite(constant)) return { constant, weights: new Map() };
  const lack = token === undefined ? 'ends too soon' : `has '${token}', which is no grader of it`;
  throw new FormulaError(`${lack}: ${ALLOWED}`);
}

function plus(one: Sum, other: Sum): Sum {
  const weights = new Map(one.weights);
  for (const [name, weight] of other.weights) weights.set(name, (weights.get(name) ?? 0) + weight);
  return { constant: one.constant + other.constant, weights };
}

function times({ constant, weights }: Sum, factor: number): Sum {
  return {
    constant: constant * factor,
    weights: new Map([...weights].map(([name, weight]) => [name, weight * factor])),
  };
}

function multiplied(one: Sum, other: Sum): Sum {
  if (one.weights.size === 0) return times(other, one.constant);
  if (other.weights.size === 0) return times(one, other.constant);
  throw new FormulaError(`multiplies graders with each other: ${ALLOWED}`);
}

function divisor({ constant, weights }: Sum): number {
  if (weights.size > 0) throw new FormulaError(`divides by a grader: ${ALLOWED}`);
  if (constant === 0) throw new FormulaError('divides by 0');
  return constant;
}
