import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { effort } from '../../../testing/soak.ts';
import { answerGrammar } from './answer-grammar.ts';
import { buildGrammar, SCHEMA_PARAM } from './build-grammar.ts';
import { sampleGrammar } from './testing/sample-grammar.ts';

const SAMPLES = effort({ usual: 20, soak: 500 });

const object = (v: object) => ({
  type: 'object',
  properties: { v },
  required: ['v'],
  additionalProperties: false,
});
const grammarOf = (v: object, strict = true) =>
  buildGrammar({ format: { schema: object(v), strict }, tools: null, thinks: 'never' });

/** Returns values that the grammar of a schema allows. */
function valuesOf(v: object, strict = true): unknown[] {
  const grammar = grammarOf(v, strict);
  let seed = 1;
  const choose = (count: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % count;
  };
  return Array.from({ length: SAMPLES }, () => {
    // Recursive rules may not end, so choose the last option after 3,000 steps.
    let steps = 0;
    const text = sampleGrammar(grammar, (count) => (steps++ > 3_000 ? count - 1 : choose(count)));
    return (JSON.parse(text) as { v: unknown }).v;
  });
}

describe('a strict pattern', () => {
  it.each([
    ...[
      String.raw`^\d{3}$`,
      String.raw`^[\w-]{2,4}$`,
      String.raw`^\p{Lu}[a-z]{1,9}$`,
      String.raw`^\S{1,3}\s$`,
    ],
    ...[
      String.raw`^good morning\!$`,
      String.raw`^\/api\/$`,
      String.raw`^\u00e4\x41$`,
      '^🫠$',
      '^$',
      '^a{0}b$',
    ],
    ...[
      '^[^"\\\\]{1,3}$',
      '^[^a]{2}$',
      '^["\\\\\\n/]{4}$',
      '^.{2}$',
      '^[a-]$',
      '^(ab|a){1,3}$',
      '^(?:a|b|)c?$',
    ],
    ...[
      'yes',
      '^a|b$',
      '^a',
      'b$',
      '^a(?=b)b$',
      '^(?!a)[a-c]$',
      '^(?=.*\\d)(?=.*[a-z])[a-z0-9]{4,8}$',
      '^[ab]{0,3}$|^c$',
      '^x(?!.*y)[x-z]{0,3}$',
    ],
    ...['^(?!^[-+.]*$)[+-]?0*\\d{0,4}\\.?\\d{0,3}$', '^(.a?|.b?|.c?|.d?|.e?|.f?|.g?|.h?)$'],
  ])('enforces %s', (pattern) => {
    const regex = new RegExp(pattern.replaceAll('\\!', '!'), 'u');
    for (const value of valuesOf({ type: 'string', pattern })) expect(value).toMatch(regex);
  });

  it('is enforced or rejected with its path, for a generated corpus', () => {
    const part = fc.constantFrom(
      ...[
        'a',
        '\\d',
        '\\w',
        '\\s',
        '[^b"]',
        '.',
        '\\.',
        '(?:x|yz)',
        '[^\\W_]',
        '(?!q)',
        '(?=[a-z])',
        '\\b',
        '(p)\\1',
      ],
    );
    const times = fc.constantFrom('', '', '?', '{2}', '{1,3}');
    const parts = fc.array(fc.tuple(part, times), { minLength: 1, maxLength: 4 });
    let enforced = 0;
    fc.assert(
      fc.property(parts, (all) => {
        const pattern = `^${all.map(([one, repeated]) => one + (one.startsWith('(?!') || one.startsWith('(?=') || one === '\\b' ? '' : repeated)).join('')}$`;
        const regex = new RegExp(pattern, 'u');
        try {
          for (const value of valuesOf({ type: 'string', pattern }).slice(0, 5)) expect(value).toMatch(regex);
          enforced += 1;
        } catch (error) {
          expect(String(error)).toContain(`${SCHEMA_PARAM}.properties.v: `);
        }
      }),
      { numRuns: effort({ usual: 60, soak: 5_000 }) },
    );
    expect(enforced).toBeGreaterThan(10);
  });

  it.each([
    [String.raw`^\w+\b$`, String.raw`'\b'`],
    ['^(?i)yes$', 'not a regular expression of ECMAScript'],
    ['^(a)\\1$', String.raw`'\1'`],
    ['(?<=a)b', "'(?<=a)'"],
    ['^(a(?=b))*$', 'inside of the repetition'],
    ['(a|b)*a(a|b){20}', 'too many states'],
    [`^${'(.a?|.b?)'.repeat(100)}{9}$`, 'too many states'],
    ['^(', 'not a regular expression'],
  ])('rejects %s with its path', (pattern, words) => {
    expect(() => grammarOf({ type: 'string', pattern })).toThrow(`${SCHEMA_PARAM}.properties.v: 'pattern'`);
    expect(() => grammarOf({ type: 'string', pattern })).toThrow(words);
  });
});

describe('a strict schema', () => {
  const formats: [string, z.ZodType][] = [
    ['date-time', z.iso.datetime({ offset: true })],
    ['date', z.iso.date()],
    ['time', z.string().regex(/^\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/)],
    ['duration', z.iso.duration()],
    ['email', z.email()],
    ['hostname', z.hostname()],
    ['ipv4', z.ipv4()],
    ['ipv6', z.ipv6()],
    ['uuid', z.guid()],
  ];
  it.each(formats)('enforces the format %s', (format, schema) => {
    for (const value of valuesOf({ type: 'string', format }))
      expect(schema.safeParse(value).error).toBeUndefined();
  });

  const types = {
    datetime: z.iso.datetime(),
    date: z.iso.date(),
    time: z.iso.time(),
    duration: z.iso.duration(),
    email: z.email(),
    ipv4: z.ipv4(),
    ipv6: z.ipv6(),
    cidrv4: z.cidrv4(),
    base64: z.base64(),
    uuid: z.uuid(),
    hostname: z.hostname(),
    length: z
      .string()
      .min(2)
      .max(4)
      .regex(/^[a-z]+$/),
    multiple: z.number().multipleOf(0.25).gt(-3).lte(9),
    range: z.int().min(-12).max(7),
    step: z.int().multipleOf(7).min(20).max(900),
    tuple: z.tuple([z.string(), z.number()]),
    kinds: z.discriminatedUnion('k', [
      z.strictObject({ k: z.literal('a') }),
      z.strictObject({ k: z.literal('b'), n: z.number().nullable() }),
    ]),
    optional: z.strictObject({
      a: z.boolean().optional(),
      b: z.null(),
      c: z.enum(['x', 'xy', 'y']).optional(),
    }),
  };
  it.each(Object.entries(types))("enforces zod's %s", (_, type) => {
    const schema = z.toJSONSchema(type, { target: 'draft-7', io: 'input' });
    for (const value of valuesOf(schema)) expect(type.safeParse(value).error).toBeUndefined();
  });

  it('shares the rules of a format between its uses', () => {
    const email = { type: 'string', format: 'email' };
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`p${index}`, email]));
    const schema = {
      type: 'object',
      properties: many,
      required: Object.keys(many),
      additionalProperties: false,
    };
    expect(grammarOf(schema).length).toBeLessThan(grammarOf(email).length + 10_000);
  });

  it.each([
    [{ not: {} }, "'not'"],
    [{ type: 'string', not: {} }, "'not'"],
    [{ type: 'string', format: 'uri' }, "'format'"],
    [{ oneOf: [{ type: 'string' }, { type: 'string' }] }, "write 'anyOf'"],
    [{ allOf: [{ type: 'string' }, { type: 'string' }] }, "'allOf'"],
    [{ type: 'object', anyOf: [{ required: ['a'] }] }, "'type' is not enforced together with 'anyOf'"],
    [{ type: 'object', required: ['a'] }, '\'required\' names "a"'],
    [{ properties: {}, minProperties: 1 }, "'minProperties'"],
    [{ type: 'array', items: {}, uniqueItems: true }, "'uniqueItems'"],
    [{ type: 'string', maxLength: 5_000 }, 'up to 1000'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, 'no text fits'],
    [{ type: 'string', pattern: '^a$', minLength: 2 }, 'no text fits'],
    [{ type: 'integer', minimum: 3, maximum: 2 }, 'no number fits'],
    [{ type: 'integer', multipleOf: 12_345 }, "'multipleOf'"],
    [{ type: 'string', enum: ['a', null] }, "'type' and the values"],
    [{ $ref: '#/nope' }, '$ref: there is no #/nope'],
    [{ type: 'string', pattern: '^((a{1,12}){1,12}){1,12}$' }, 'too many states'],
    [{ type: 'string', pattern: String.raw`^(\p{L}\p{N}|\p{Lu}\p{Ll}){1,400}$` }, 'too many states'],
  ])('rejects %j with its path', (schema, words) => {
    expect(() => grammarOf(schema)).toThrow(words);
    expect(() => grammarOf(schema)).toThrow(SCHEMA_PARAM);
    expect(() => grammarOf(schema, false)).not.toThrow();
  });
});

describe('a schema that is not strict', () => {
  const longNames = Object.fromEntries(['a', 'b', 'c'].map((name) => [name.repeat(9_000), {}]));
  it.each([
    { type: 'string', maxLength: 524_288 },
    { type: 'array', items: { type: 'string', pattern: '\\b' }, maxItems: 1e9 },
    { enum: Array.from({ length: 5_000 }, (_, index) => `v${index}`) },
    { anyOf: Array.from({ length: 200 }, () => ({ type: 'array' })) },
    { type: 'object', properties: longNames, additionalProperties: true },
  ])('is never rejected: %#', (schema) => {
    expect(valuesOf(schema, false)).toHaveLength(SAMPLES);
  });
});

it('builds hostile schemas in a worker; rejects them if they are strict, and otherwise does not enforce them', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `p${at}`,
      { type: 'string', pattern: `\\p{L}{0,${100 + at}}\\p{Lu}`, maxLength: 1000 },
    ]),
  );
  const schema = {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
  const asked = (strict: boolean) =>
    answerGrammar({ format: { schema, strict }, tools: null, thinks: 'never' }, 'ada');
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 10);
  onTestFinished(() => clearInterval(turning));
  await expect(asked(true)).rejects.toMatchObject({ code: 'invalid_request', param: SCHEMA_PARAM });
  expect(turns).toBeGreaterThan(0);
  expect(await asked(false)).toContain('root ::=');
});

it('rejects names that need too many states', () => {
  const required = Array.from({ length: 300 }, (_, at) => `${'n'.repeat(60)}${at}`);
  const properties = Object.fromEntries(required.map((name) => [name, { type: 'null' }]));
  const schema = { type: 'object', properties, required, additionalProperties: true };
  const build = (strict: boolean) =>
    buildGrammar({ format: { schema, strict }, tools: null, thinks: 'never' });
  expect(build(false)).toContain('root ::=');
});
