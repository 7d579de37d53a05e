import { formatAutomaton, isFormatPattern } from './formats.ts';
import { numberAutomaton } from './numbers.ts';
import { literal, type Rules } from './rules.ts';
import {
  type Automaton,
  both,
  guarded,
  isExhausted,
  lengthAutomaton,
  NotEnforced,
  oneOf,
  otherThan,
  patternAutomaton,
} from './text-pattern.ts';

type Fields = Record<string, unknown>;

const numeric = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
/** Keywords by the type to which they apply. On values of other types, they are valid but have no effect. */
const ofType: Record<string, string[]> = {
  string: ['pattern', 'format', 'minLength', 'maxLength'],
  number: numeric,
  integer: numeric,
  array: [
    ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'minItems', 'maxItems'],
    ...['uniqueItems', 'contains', 'minContains', 'maxContains'],
  ],
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'required'],
    ...['minProperties', 'maxProperties', 'propertyNames', 'dependencies', 'dependentRequired'],
    'dependentSchemas',
  ],
  boolean: [],
  null: [],
};
const assertions = [
  ...new Set(Object.values(ofType).flat()),
  ...['enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'],
  ...['$ref', '$dynamicRef', '$recursiveRef', 'type'],
];
const COUNT_MAX = 1_000;

/**
 * Converts a schema into grammar rules. With `strict`, every keyword is enforced or rejected with its path.
 * Otherwise, keywords that cannot be enforced are ignored.
 */
export class SchemaGrammar {
  private readonly rules: Rules;
  private readonly root: unknown;
  private readonly strict: boolean;
  private readonly path: string;
  private readonly references = new Map<string, string>();
  private readonly patterns = new Map<string, Automaton>();

  constructor(root: unknown, options: { rules: Rules; strict: boolean; path: string }) {
    this.root = root;
    this.path = options.path;
    this.rules = options.rules;
    this.strict = options.strict;
  }

  /** Returns the name of the rule for the whole schema. Throws NotEnforced, starting with the path. */
  whole(): string {
    return this.rule(this.root, this.path);
  }

  private rule(schema: unknown, path: string): string {
    if (!isFields(schema)) return 'value';
    try {
      this.rules.countSchema();
      return this.rules.add(this.body(schema, path));
    } catch (error) {
      if (!(error instanceof NotEnforced) || error.message.startsWith(path)) throw error;
      throw new NotEnforced(`${path}: ${error.message}. Leave it out, or leave out 'strict'`);
    }
  }

  private body(schema: Fields, path: string): string {
    if (schema.$ref !== undefined) return this.only(schema, ['$ref'], () => this.reference(schema.$ref));
    const isShaped = !this.strict && (schema.properties !== undefined || schema.items !== undefined);
    for (const name of isShaped ? [] : ['anyOf', 'oneOf', 'allOf'])
      if (Array.isArray(schema[name]) && schema[name].length > 0)
        return this.only(schema, [name], () => this.choices(schema[name] as unknown[], name, path));
    if ('const' in schema) return this.values([schema.const], schema);
    if (Array.isArray(schema.enum)) return this.values(schema.enum, schema);
    const types = Array.isArray(schema.type)
      ? [...new Set(schema.type)]
      : [schema.type ?? impliedType(schema)];
    return types.map((type) => this.typed(type, schema, path)).join(' | ');
  }

  /**
   * With `strict`, rejects assertions other than `enforced`: in this schema, they cannot be enforced
   * together.
   */
  private only(schema: Fields, enforced: string[], body: () => string): string {
    if (this.strict) {
      const over = assertions.find((name) => name in schema && !enforced.includes(name));
      if (over) throw new NotEnforced(`'${over}' is not enforced together with '${enforced[0]}'`);
    }
    return body();
  }

  private reference(reference: unknown): string {
    const known = this.references.get(String(reference));
    if (known) return known;
    const target = this.find(String(reference));
    const name = this.rules.reserve();
    this.references.set(String(reference), name);
    // Use the target's path within the schema, because errors name it.
    const at = String(reference).slice(2).replaceAll('/', '.');
    this.rules.set(name, this.rule(target, [this.path, at].filter(Boolean).join('.')));
    return name;
  }

  private find(reference: string): unknown {
    let at: unknown = reference === '#' || reference.startsWith('#/') ? this.root : undefined;
    for (const name of reference.slice(2).split('/').filter(Boolean)) {
      const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
      at = typeof at === 'object' && at !== null ? (at as Fields)[key] : undefined;
    }
    if (at === undefined && this.strict)
      throw new NotEnforced(`'$ref': there is no ${reference.slice(0, 80)} in the schema`);
    return at;
  }

  private choices(all: unknown[], name: string, path: string): string {
    const rules = all.map((one, index) => this.rule(one, `${path}.${name}.${index}`));
    if (name === 'allOf' && all.length > 1) {
      if (this.strict) throw new NotEnforced("'allOf' is not enforced");
      return rules[0] ?? 'value';
    }
    if (name === 'oneOf' && this.strict && !this.areApart(all))
      throw new NotEnforced("'oneOf' is not enforced: write 'anyOf'");
    return rules.join(' | ');
  }

  /**
   * Returns true if no value can match two of the schemas, because they differ in type or in their first
   * required constant.
   */
  private areApart(all: unknown[]): boolean {
    const marks = all.map((one) => {
      const { $ref } = fieldsOf(one);
      const schema = fieldsOf(typeof $ref === 'string' ? this.find($ref) : one);
      const required = Array.isArray(schema.required) ? schema.required : [];
      const mark = Object.entries(fieldsOf(schema.properties)).find(
        ([key, of]) => required.includes(key) && 'const' in fieldsOf(of),
      );
      return JSON.stringify(mark ? [mark[0], fieldsOf(mark[1]).const] : { type: schema.type });
    });
    const isTyped = marks.every(
      (mark) => !mark.includes('{}') && (mark[0] === '[' || !/"object"|\[/.test(mark)),
    );
    const keys = new Set(
      marks.filter((mark) => mark[0] === '[').map((mark) => (JSON.parse(mark) as string[])[0]),
    );
    return (
      isTyped &&
      keys.size <= 1 &&
      new Set(marks).size === marks.length &&
      !(marks.join().includes('"integer"') && marks.join().includes('"number"'))
    );
  }

  private values(values: unknown[], schema: Fields): string {
    const types = [schema.type].flat().filter((type) => typeof type === 'string');
    const fit = values.filter((value) => types.length === 0 || types.some((type) => isOf(type, value)));
    if (this.strict) {
      const over = assertions.find((name) => name in schema && !['const', 'enum', 'type'].includes(name));
      if (over) throw new NotEnforced(`'${over}' is not enforced together with 'enum' and 'const'`);
      if (fit.length < values.length) throw new NotEnforced("'type' and the values do not agree");
    }
    const all = fit.length > 0 ? fit : values;
    if (all.length === 0) throw new NotEnforced("'enum' has no value");
    const texts = all.filter((value) => typeof value === 'string');
    // Combine the texts in one automaton, so that texts with a common prefix have a single parse.
    const ofTexts =
      texts.length > 1
        ? this.rules.automaton(
            guarded("'enum'", () => oneOf(texts)),
            'text',
          )
        : null;
    const others = ofTexts ? all.filter((value) => typeof value !== 'string') : all;
    return [...(ofTexts ? [ofTexts] : []), ...others.map((value) => literal(JSON.stringify(value)))].join(
      ' | ',
    );
  }

  private typed(type: unknown, schema: Fields, path: string): string {
    if (this.strict) {
      const own = typeof type === 'string' ? ofType[type] : undefined;
      if (type !== undefined && !own)
        throw new NotEnforced(`'type' has no ${JSON.stringify(type).slice(0, 40)}`);
      const keywords = ['not', 'if', 'then', 'else', '$dynamicRef', '$recursiveRef', ...(own ?? assertions)];
      const over = keywords.find((name) => name in schema && !this.enforced(type, schema).includes(name));
      if (over) throw new NotEnforced(`'${over}' is not enforced`);
    }
    if (type === 'object') return this.object(schema, path);
    if (type === 'array') return this.array(schema, path);
    if (type === 'string') return this.text(schema);
    if (type === 'integer' || type === 'number') return this.number(schema, type);
    if (type === 'boolean' || type === 'null') return type;
    return 'value';
  }

  private enforced(type: unknown, { pattern, format, items, prefixItems }: Fields): string[] {
    if (type === 'object') return ['properties', 'required', 'additionalProperties'];
    // The grammar of a tuple never allows additional items, so any `additionalItems` is satisfied.
    const isTuple = Array.isArray(items) || Array.isArray(prefixItems);
    if (type === 'array')
      return ['items', 'prefixItems', 'minItems', 'maxItems', ...(isTuple ? ['additionalItems'] : [])];
    if (type !== 'string') return numeric;
    // JSON Schema ignores unknown formats, so the pattern alone is enforced.
    const isKnown = typeof pattern === 'string' || formatAutomaton(String(format)) !== null;
    return ['pattern', 'minLength', 'maxLength', ...(isKnown ? ['format'] : [])];
  }

  private text(schema: Fields): string {
    const { pattern } = schema;
    const minLength = count(schema.minLength, 0);
    const maxLength = count(schema.maxLength, Number.POSITIVE_INFINITY);
    const dfa = this.attempt(() => this.automaton(typeof pattern === 'string' ? pattern : '', schema), null);
    if (dfa) {
      const name = this.rules.automaton(dfa, 'text');
      if (name) return name;
      if (this.strict) throw new NotEnforced('no text fits');
    }
    if (this.strict && Math.max(minLength, Number.isFinite(maxLength) ? maxLength : 0) > COUNT_MAX)
      throw new NotEnforced(`'minLength' and 'maxLength' are enforced up to ${COUNT_MAX}`);
    if (this.strict && minLength > maxLength) throw new NotEnforced('no text fits');
    return `"\\"" char${repeated(minLength, maxLength)} "\\""`;
  }

  private automaton(pattern: string, schema: Fields): Automaton | null {
    const { format, minLength, maxLength } = schema;
    const hasPattern = typeof schema.pattern === 'string' && !isFormatPattern(pattern, String(format));
    const ofPattern = hasPattern ? (this.patterns.get(pattern) ?? patternAutomaton(pattern)) : null;
    if (ofPattern) this.patterns.set(pattern, ofPattern);
    const ofFormat = typeof format === 'string' ? formatAutomaton(format) : null;
    let found = ofPattern ?? ofFormat;
    if (ofPattern && ofFormat) {
      const all = guarded("'pattern' with 'format'", () => both(ofPattern, ofFormat));
      // No text matches both. The pattern is then meant as a wider format: e.g. zod's times have no offset.
      found = all.isEmpty ? ofPattern : all;
    }
    if (!found || (minLength === undefined && maxLength === undefined)) return found;
    const most = typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY;
    const lengths = [
      found,
      guarded("'maxLength'", () => lengthAutomaton(Number(minLength ?? 0), most)),
    ] as const;
    return guarded("'pattern' or 'format' with 'minLength' and 'maxLength'", () => both(...lengths));
  }

  private number(schema: Fields, type: 'integer' | 'number'): string {
    const constraints = Object.fromEntries(
      numeric.flatMap((name) => (typeof schema[name] === 'number' ? [[name, schema[name]]] : [])),
    );
    if (Object.keys(constraints).length === 0) return type;
    const dfa = this.attempt(() => numberAutomaton(constraints, { isInteger: type === 'integer' }), null);
    const name = dfa && this.rules.automaton(dfa, 'bare');
    if (!name && this.strict) throw new NotEnforced('no number fits');
    return name ?? type;
  }

  private array(schema: Fields, path: string): string {
    const minItems = count(schema.minItems, 0);
    const maxItems = count(schema.maxItems, Number.POSITIVE_INFINITY);
    const prefix = [schema.prefixItems, schema.items].find(Array.isArray) as unknown[] | undefined;
    if (prefix) {
      if (this.strict && (minItems > prefix.length || maxItems < prefix.length))
        throw new NotEnforced(
          "'prefixItems' says how many there are: 'minItems' and 'maxItems' contradict it",
        );
      const items = prefix.map((one, index) => this.rule(one, `${path}.prefixItems.${index}`));
      return `"[" space ${items.join(' "," space ')} space "]"`;
    }
    if (this.strict && (minItems > COUNT_MAX || (Number.isFinite(maxItems) && maxItems > COUNT_MAX)))
      throw new NotEnforced(`'minItems' and 'maxItems' are enforced up to ${COUNT_MAX}`);
    if (this.strict && minItems > maxItems) throw new NotEnforced('no array fits');
    const item = this.rule(schema.items, `${path}.items`);
    if (maxItems === 0) return '"[" space "]"';
    const all = `${item} ("," space ${item})${repeated(Math.max(minItems - 1, 0), maxItems - 1)}`;
    return `"[" space ${minItems > 0 ? all : `(${all})?`} space "]"`;
  }

  private object(schema: Fields, path: string): string {
    const properties = Object.entries(fieldsOf(schema.properties));
    const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : []);
    const names = properties.map(([name]) => name);
    const unknown = [...required].filter((name) => !names.includes(name));
    if (this.strict && unknown.length > 0)
      throw new NotEnforced(`'required' names ${JSON.stringify(unknown[0])}, which is not in 'properties'`);
    const others = schema.additionalProperties ?? (properties.length === 0 || unknown.length > 0);
    const member = (key: string, value: string) => this.rules.add(`${key} ":" space ${value}`);
    let [first, later] = ['', ''];
    if (others !== false) {
      const unlisted = this.attempt(() => guarded("'additionalProperties'", () => otherThan(names)), null);
      const key = (unlisted && this.rules.automaton(unlisted, 'text')) ?? 'string';
      const other = member(key, this.rule(others, `${path}.additionalProperties`));
      later = this.rules.add(`("," space ${other})*`);
      first = this.rules.add(`(${other} ${later})?`);
    }
    // Build from the last property to the first, with two continuations: `first` if no property was written
    // before, and `later` otherwise.
    for (const [name, of] of properties.reverse()) {
      const one = member(literal(JSON.stringify(name)), this.rule(of, `${path}.properties.${name}`));
      const isOptional = !required.has(name);
      const [begun, next] = [`${one} ${later}`, `"," space ${one} ${later}`];
      first = this.rules.add(isOptional ? `${begun} | ${first || '""'}` : begun);
      later = this.rules.add(isOptional ? `${next} | ${later || '""'}` : next);
    }
    return `"{" space ${first} space "}"`;
  }

  /** Without `strict`, ignores constraints that cannot be enforced. */
  private attempt<Result>(build: () => Result, instead: Result): Result {
    if (this.strict) return build();
    if (isExhausted()) return instead;
    try {
      return build();
    } catch (error) {
      if (error instanceof NotEnforced) return instead;
      throw error;
    }
  }
}

function impliedType(schema: Fields): string | undefined {
  return ['object', 'array', 'string', 'number'].find((type) => ofType[type]?.some((name) => name in schema));
}

function count(value: unknown, instead: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : instead;
}

/**
 * Returns the repetition. Treats bounds above the limit as unbounded, because model servers reject such
 * grammars.
 */
function repeated(least: number, most: number): string {
  const from = Math.min(Math.max(least, 0), COUNT_MAX);
  if (most > COUNT_MAX || most < from) return from === 0 ? '*' : `{${from},}`;
  return `{${from},${most}}`;
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isFields(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
