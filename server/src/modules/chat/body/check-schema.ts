import { isDeepStrictEqual } from 'node:util';

/*
 * Limits for JSON Schemas, because many users share a model server. It compiles a schema into a grammar and
 * checks every token against it, on the thread that writes all answers. Measured with llama.cpp and a
 * vocabulary of 49,152 on two idle cores: within these limits, a grammar was ready within 1.5 s and added up
 * to 0.5 s to the slowest token and 140 MB. With at most 24 tokens at the limits, ms until the first token
 * (19 without a schema) and for the slowest later token:
 * - 20 alternatives with ranges of large integers: 905, 85;
 * - an enum of 300 long values: 362, 89;
 * - 100 optional properties: 224, 41; 490 required properties: 194, 23;
 * - 50 alternatives of arrays of any values: 36, 27; a string of up to 1,000 characters: 28, 22;
 * - 160 required ranges of large integers: 233, 44; each nullable: 288, 45.
 * Beyond the limits:
 * - 240 alternatives of arrays of any values: 2.1 s until ready, 0.9 s per token;
 * - 50 alternatives with ranges of integers: 4.4 s; 100 of them: 13 s;
 * - three alternatives of arrays that contain all three again: each level triples the parses, and token 24
 *   had taken 20 s; with ten alternatives, token 9;
 * - an enum of 20,000: 50 s.
 */
const LENGTH_MAX = 120_000;
const DEPTH_MAX = 16;
const limits = {
  /** Counts nested schemas. A referenced schema counts once per reference to it. */
  schemas: { max: 500, words: 'schemas inside of schemas, references included' },
  values: { max: 1_000, words: "values in 'enum'" },
  choices: { max: 50, words: "choices in 'anyOf' and 'oneOf'" },
  ranges: { max: 20, words: "choices with a 'minimum' or a 'maximum'" },
  optional: { max: 100, words: 'properties that are not required' },
};

/** `ranges` counts only ranges in alternatives; `bounded` counts all. */
type Sums = Record<keyof typeof limits | 'bounded', number>;
type Fields = Record<string, unknown>;

const alternatives = ['anyOf', 'oneOf'];
// Count all of these, because each engine supports some.
const lists = [...alternatives, 'allOf', 'prefixItems'];
const schemas = [
  'items',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const maps = ['properties', 'patternProperties', 'dependentSchemas'];
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

const none = { values: 0, choices: 0, ranges: 0, bounded: 0, optional: 0 };
const one: Sums = { schemas: 1, ...none };

/** The message is a sentence for the caller. Only thrown and caught in this file. */
class Fault extends Error {}

/** Returns a sentence that explains why a schema is not allowed; null if it is allowed. */
export function checkSchema(root: object): string | null {
  try {
    const { length } = JSON.stringify(root);
    if (length > LENGTH_MAX) throw new Fault(`at most ${LENGTH_MAX} characters, not ${length}`);
    const measure = new Measure(root as Fields);
    const sums = measure.of(root, 0);
    for (const [name, { max, words }] of Object.entries(limits)) {
      const sum = sums[name as keyof typeof limits];
      if (sum > max) throw new Fault(`at most ${max} ${words}`);
    }
    measure.assertNoForks();
    measure.assertNoCycles();
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/**
 * Counts the parts of a schema. A reference counts all parts of its target again, so nested references
 * multiply.
 */
class Measure {
  private readonly root: Fields;
  private readonly known = new Map<string, Sums>();
  /** Schemas with alternatives. */
  private readonly forks = new Set<Fields>();
  private readonly references = new Set<Fields>();

  constructor(root: Fields) {
    this.root = root;
  }

  of(schema: unknown, depth: number): Sums {
    const sums = { ...one };
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return sums;
    if (depth > DEPTH_MAX) throw new Fault(`at most ${DEPTH_MAX} levels deep`);
    const fields = schema as Fields;
    if (Array.isArray(fields.enum)) sums.values += fields.enum.length;
    if (bounds.some((name) => fields[name] !== undefined)) sums.bounded += 1;
    const choices = choicesOf(fields);
    if (choices.length > 0) this.forks.add(fields);
    sums.choices += choices.length;
    for (const inner of this.inside(fields)) {
      const more = this.of(inner, depth + 1);
      add(sums, more);
      if (choices.includes(inner)) sums.ranges += more.bounded;
    }
    sums.optional += countOptional(fields);
    if (typeof fields.$ref === 'string') {
      this.references.add(fields);
      add(sums, this.ofReference(fields.$ref, depth));
    }
    return sums;
  }

  /**
   * Rejects recursive alternatives: if several of them contain the choice again, the number of possible
   * parses multiplies with every level, and the grammar follows all of them. Allowed if the first required
   * constants of these alternatives differ, because then only one of them matches.
   */
  assertNoForks(): void {
    for (const fork of this.forks) {
      const back = choicesOf(fork).filter((choice) => this.leadsTo(choice, fork, new Set()));
      const marks = back.map((choice) => this.markOf(choice));
      if (back.length > 1 && (marks.includes(null) || new Set(marks).size < back.length)) {
        throw new Fault(
          "only one choice of an 'anyOf' or 'oneOf' may refer back to it, unless each is an object whose first required property has a 'const' of its own",
        );
      }
    }
  }

  /**
   * Rejects references that lead back to themselves without consuming text, because the grammar could never
   * start.
   */
  assertNoCycles(): void {
    const choices = (fields: Fields) => [...alternatives, 'allOf'].flatMap((name) => listOf(fields[name]));
    for (const reference of this.references) {
      const { $ref } = reference;
      if (this.leadsTo(this.find(String($ref)), reference, new Set(), choices))
        throw new Fault(`$ref: ${String($ref).slice(0, 80)} refers back to itself without end`);
    }
  }

  private leadsTo(
    schema: unknown,
    target: Fields,
    seen: Set<unknown>,
    inside: (fields: Fields) => unknown[] = (fields) => this.inside(fields),
  ): boolean {
    if (schema === target) return true;
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return false;
    seen.add(schema);
    const fields = schema as Fields;
    const next = inside(fields);
    if (typeof fields.$ref === 'string') next.push(this.find(fields.$ref));
    return next.some((inner) => this.leadsTo(inner, target, seen, inside));
  }

  /** Returns the constant text of an object's first required property, if it has one. */
  private markOf(schema: unknown): string | null {
    const { $ref } = fieldsOf(schema);
    const fields = fieldsOf(typeof $ref === 'string' ? this.find($ref) : schema);
    const required = listOf(fields.required);
    const first = Object.entries(fieldsOf(fields.properties)).find(([name]) => required.includes(name));
    const { const: only } = fieldsOf(first?.[1]);
    return first && typeof only === 'string' ? JSON.stringify([first[0], only]) : null;
  }

  private inside(fields: Fields): unknown[] {
    return [
      ...lists.flatMap((name) => listOf(fields[name])),
      ...schemas.flatMap((name) => (Array.isArray(fields[name]) ? fields[name] : [fields[name]])),
      ...maps.flatMap((name) => Object.values(fieldsOf(fields[name]))),
    ].filter((inner) => inner !== undefined);
  }

  /** Counts a recursive reference once, because a grammar may be recursive. */
  private ofReference(reference: string, depth: number): Sums {
    const known = this.known.get(reference);
    if (known) return known;
    this.known.set(reference, one);
    const sums = this.of(this.find(reference), depth + 1);
    this.known.set(reference, sums);
    return sums;
  }

  private find(reference: string): unknown {
    if (!reference.startsWith('#/')) {
      throw new Fault("$ref: only '#/…' is looked up. Move what is referred to into '$defs'");
    }
    let at: unknown = this.root;
    for (const name of reference.slice(2).split('/').filter(Boolean)) {
      at = fieldsOf(at)[name.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    if (at === undefined) throw new Fault(`$ref: there is no ${reference.slice(0, 80)}`);
    return at;
  }
}

/**
 * Returns the alternatives of a schema. `null` plus one schema does not count as a choice, because every
 * optional field of OpenAI's strict schemas is nullable.
 */
function choicesOf(fields: Fields): unknown[] {
  return alternatives.flatMap((name) => {
    const all = listOf(fields[name]);
    const nullable = all.find(isNull);
    const choices = all.filter((choice) => choice !== nullable);
    return choices.length > 1 ? choices : [];
  });
}

function isNull(schema: unknown): boolean {
  return isDeepStrictEqual(schema, { type: 'null' });
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
