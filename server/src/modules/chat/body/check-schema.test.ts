import { describe, expect, it } from 'vitest';
import { checkSchema } from './check-schema.ts';

const text = { type: 'string' };
const named = (count: number, schema: object = text) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));

describe('checkSchema', () => {
  it('accepts an ordinary answer', () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 200 },
        kind: { enum: ['loaf', 'roll'] },
        date: { type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' },
        parts: { type: 'array', items: { $ref: '#/$defs/part' }, maxItems: 50 },
        code: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      },
      required: ['name', 'kind'],
      additionalProperties: false,
      $defs: {
        part: { type: 'object', properties: { parts: { type: 'array', items: { $ref: '#/$defs/part' } } } },
      },
    };
    expect(checkSchema(schema)).toBeNull();
  });

  it.each([
    ['a text', { type: 'string' }],
    ['an integer of at least 0', { type: 'integer', minimum: 0 }],
  ])('accepts 100 fields that are %s or null, as pydantic and OpenAI write optional fields', (_, schema) => {
    const properties = named(100, { anyOf: [schema, { type: 'null' }] });
    expect(checkSchema({ properties, required: Object.keys(properties) })).toBeNull();
  });

  it.each([
    ['too long', { description: 'x'.repeat(130_000) }, 'characters'],
    ['too many values', { enum: Array.from({ length: 1_001 }, (_, index) => index) }, 'values'],
    ['too many alternatives', { anyOf: Array.from({ length: 51 }, () => text) }, 'choices'],
    [
      'too many alternatives next to null',
      { anyOf: [...Array.from({ length: 51 }, () => text), { type: 'null' }] },
      'choices',
    ],
    ['too many nulls', { anyOf: Array.from({ length: 52 }, () => ({ type: 'null' })) }, 'choices'],
    [
      'too many nullable alternatives with ranges',
      {
        anyOf: Array.from({ length: 21 }, (__, minimum) => ({
          anyOf: [{ type: 'integer', minimum }, { type: 'null' }],
        })),
      },
      'minimum',
    ],
    [
      'too many ranges',
      { anyOf: Array.from({ length: 21 }, (_, minimum) => ({ type: 'integer', minimum })) },
      'minimum',
    ],
    ['too many optional properties', { properties: named(101) }, 'not required'],
    ['too many properties', { properties: named(600), required: Object.keys(named(600)) }, 'schemas inside'],
    ['an external reference', { $ref: 'https://169.254.169.254/schema.json' }, '$ref'],
    ['a reference to nothing', { $ref: '#/$defs/nothing' }, '$ref'],
    ['a reference to the root', { type: 'object', properties: { a: { $ref: '#' } } }, '$defs'],
    ['a self-reference', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'without end'],
    [
      'mutual references',
      {
        $ref: '#/$defs/a',
        $defs: { a: { anyOf: [text, { $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } },
      },
      'without end',
    ],
    ...['patternProperties', 'dependentSchemas'].map((keyword): [string, object, string] => [
      `too many values in ${keyword}`,
      { [keyword]: { '^x$': { enum: Array.from({ length: 1_001 }, (_, index) => index) } } },
      'values',
    ]),
  ])('rejects %s', (_, schema, sentence) => {
    expect(checkSchema(schema)).toContain(sentence);
  });

  it('rejects a deep schema', () => {
    let schema: object = text;
    for (let depth = 0; depth < 20; depth += 1) schema = { type: 'array', items: schema };
    expect(checkSchema(schema)).toContain('deep');
  });

  it('rejects a schema whose references multiply, without delay', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [`d${index}`, index === 11 ? text : { anyOf: [next, next] }];
      }),
    );
    expect(checkSchema({ $ref: '#/$defs/d0', $defs: defs })).not.toBeNull();
  });
});

describe('recursive alternatives', () => {
  const list = { type: 'array', items: { $ref: '#/$defs/node' } };
  const of = (...anyOf: object[]) => ({ $ref: '#/$defs/node', $defs: { node: { anyOf }, list } });
  const operation = (name: string) => ({
    type: 'object',
    properties: { op: { const: name }, left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } },
    required: ['op', 'left', 'right'],
  });

  it.each([
    ['in one of them', of(text, list)],
    [
      'in objects that differ in their first constant',
      of({ type: 'number' }, operation('plus'), operation('minus')),
    ],
  ])('accepts %s', (_, schema) => {
    expect(checkSchema(schema)).toBeNull();
  });

  it.each([
    ['in two lists', of(list, { ...list, maxItems: 5 })],
    ['in objects with the same first constant', of(operation('plus'), operation('plus'))],
    ['in a list and an object', of(list, operation('plus'))],
    ['by references', of({ $ref: '#/$defs/list' }, { $ref: '#/$defs/list' })],
  ])('rejects %s', (_, schema) => {
    expect(checkSchema(schema)).toContain('may refer back');
  });
});
