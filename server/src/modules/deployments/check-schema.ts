import { checkPattern } from './check-pattern.ts';

/*
 * What a JSON Schema may ask of the model servers, which many users share. They turn it into a
 * grammar and try every token against it, on the thread that also writes everybody else's answers.
 * Measured with llama.cpp and a vocabulary of 49,152: what these bounds let through is ready within
 * a second and adds at most a tenth of a second to a token; an enum of 20,000 took 50 s, and
 * repetitions inside of repetitions did not come to an end.
 */
const LENGTH_MAX = 32_768;
const DEPTH_MAX = 16;
const COUNT_MAX = 1_000;
const limits = {
  /** Schemas inside of schemas, each as often as it is referred to. */
  schemas: { max: 500, words: 'schemas inside of schemas, references included' },
  choices: { max: 300, words: "choices in 'enum', 'anyOf' and 'oneOf'" },
  optional: { max: 100, words: 'properties that are not required' },
  patterns: { max: 10, words: 'patterns' },
};

type Sums = Record<keyof typeof limits, number>;
type Fields = Record<string, unknown>;

const counts = ['minLength', 'maxLength', 'minItems', 'maxItems'];
const alternatives = ['anyOf', 'oneOf'];
const lists = [...alternatives, 'allOf', 'prefixItems'];
const schemas = ['items', 'additionalProperties'];

/** Thrown with a sentence for the caller, which never leaves this file. */
class Fault extends Error {}

/** Why a schema cannot be asked for, in a sentence; null when it can. Pure. */
export function checkSchema(root: object): string | null {
  try {
    const { length } = JSON.stringify(root);
    if (length > LENGTH_MAX) throw new Fault(`at most ${LENGTH_MAX} characters, not ${length}`);
    const sums = new Measure(root as Fields).of(root, 0);
    for (const [name, { max, words }] of Object.entries(limits)) {
      const sum = sums[name as keyof Sums];
      if (sum > max) throw new Fault(`at most ${max} ${words}`);
    }
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** Adds up what a schema has, with what it refers to: a few references to references are many schemas. */
class Measure {
  private readonly root: Fields;
  private readonly known = new Map<string, Sums>();

  constructor(root: Fields) {
    this.root = root;
  }

  of(schema: unknown, depth: number): Sums {
    const sums: Sums = { schemas: 1, choices: 0, optional: 0, patterns: 0 };
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return sums;
    if (depth > DEPTH_MAX) throw new Fault(`at most ${DEPTH_MAX} levels deep`);
    const fields = schema as Fields;
    checkCounts(fields);
    if (typeof fields.pattern === 'string') {
      const fault = checkPattern(fields.pattern);
      if (fault) throw new Fault(`pattern: ${fault}`);
      sums.patterns += 1;
    }
    if (Array.isArray(fields.enum)) sums.choices += fields.enum.length;
    for (const name of alternatives) sums.choices += listOf(fields[name]).length;
    for (const inner of this.inside(fields)) add(sums, this.of(inner, depth + 1));
    sums.optional += countOptional(fields);
    if (typeof fields.$ref === 'string') add(sums, this.ofReference(fields.$ref, depth));
    return sums;
  }

  private inside(fields: Fields): unknown[] {
    return [
      ...lists.flatMap((name) => listOf(fields[name])),
      ...schemas.flatMap((name) => (Array.isArray(fields[name]) ? fields[name] : [fields[name]])),
      ...Object.values(fieldsOf(fields.properties)),
    ].filter((inner) => inner !== undefined);
  }

  /** One that refers to itself is counted once: a grammar may go in circles. */
  private ofReference(reference: string, depth: number): Sums {
    const known = this.known.get(reference);
    if (known) return known;
    this.known.set(reference, { schemas: 1, choices: 0, optional: 0, patterns: 0 });
    const sums = this.of(this.find(reference), depth + 1);
    this.known.set(reference, sums);
    return sums;
  }

  private find(reference: string): unknown {
    if (!reference.startsWith('#')) throw new Fault("$ref: only what begins with '#' is looked up");
    let at: unknown = this.root;
    for (const name of reference.slice(1).split('/').filter(Boolean)) {
      at = fieldsOf(at)[name.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    if (at === undefined) throw new Fault(`$ref: there is no ${reference.slice(0, 80)}`);
    return at;
  }
}

function checkCounts(fields: Fields): void {
  for (const name of counts) {
    const value = fields[name];
    if (typeof value === 'number' && value > COUNT_MAX) throw new Fault(`${name}: at most ${COUNT_MAX}`);
  }
}

function countOptional(fields: Fields): number {
  const required = new Set(listOf(fields.required));
  return Object.keys(fieldsOf(fields.properties)).filter((name) => !required.has(name)).length;
}

function add(sums: Sums, more: Sums): void {
  for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] += more[name];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
