import { describe, expect, it } from 'vitest';
import { checkPattern } from './check-pattern.ts';
import { checkSchema } from './check-schema.ts';

const text = { type: 'string' };
const named = (count: number, schema: object = text) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));

describe('a schema', () => {
  it('of an ordinary answer passes', () => {
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
    ['too long', { description: 'x'.repeat(40_000) }, 'characters'],
    ['too many choices', { enum: Array.from({ length: 301 }, (_, index) => index) }, 'choices'],
    ['too many alternatives', { anyOf: Array.from({ length: 301 }, () => text) }, 'choices'],
    ['too many optional properties', { properties: named(101) }, 'not required'],
    ['too many properties', { properties: named(600), required: Object.keys(named(600)) }, 'schemas inside'],
    ['too many items', { type: 'array', items: text, maxItems: 1001 }, 'maxItems'],
    ['too long a text', { type: 'string', maxLength: 50_000 }, 'maxLength'],
    ['somebody else', { $ref: 'https://169.254.169.254/schema.json' }, '$ref'],
    ['nothing', { $ref: '#/$defs/nothing' }, '$ref'],
    ['a hungry pattern', { properties: { a: { pattern: `^(${'a|b|'.repeat(9)})*$` } } }, 'pattern'],
  ])('that asks for %s is refused', (_, schema, sentence) => {
    expect(checkSchema(schema)).toContain(sentence);
  });

  it('that is deep is refused', () => {
    let schema: object = text;
    for (let depth = 0; depth < 20; depth += 1) schema = { type: 'array', items: schema };
    expect(checkSchema(schema)).toContain('deep');
  });

  it('that doubles itself by references is refused, and measured at once', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [`d${index}`, index === 11 ? text : { anyOf: [next, next] }];
      }),
    );
    expect(checkSchema({ $ref: '#/$defs/d0', $defs: defs })).not.toBeNull();
  });
});

describe('a pattern', () => {
  it.each([
    '^[a-z]+$',
    '^(ab)+$',
    '^(yes|no)$',
    '^[0-9]{3}-[0-9]{4}$',
    '^\\(a\\)*$',
    '^[|(]*$',
    '^x(y(z))?$',
    '^(-|\\+)?[0-9]+$',
  ])('%s passes', (pattern) => {
    expect(checkPattern(pattern)).toBeNull();
  });

  it.each([
    [`^${'(a|b|)'.repeat(30)}$`, 'empty alternative'],
    ['^(a|b)*$', "'|'"],
    ['^((a|b)c)*$', "'|'"],
    [`^${'(a|b)?'.repeat(30)}$`, 'at most 20'],
    ['^((a|b)?c)?$', 'inside'],
    ['^(a*)*$', 'inside'],
    ['^((a{2,3}))+$', 'inside'],
    ['^([ab]{0,100}c?){0,100}$', 'inside'],
    [`^${'a?'.repeat(80)}$`, 'at most 20'],
    [`^${'a{0,100}'.repeat(3)}$`, 'at most 250'],
    ['^a{1000}$', 'at most 250'],
    ['a'.repeat(201), 'characters'],
    ['^(a$', 'without'],
    ['^a)$', 'without'],
  ])('%s is refused', (pattern, sentence) => {
    expect(checkPattern(pattern)).toContain(sentence);
  });
});
