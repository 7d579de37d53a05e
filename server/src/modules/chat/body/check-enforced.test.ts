import { describe, expect, it } from 'vitest';
import { checkEnforced } from './check-enforced.ts';

const text = { type: 'string' };
const fault = (schema: object) => checkEnforced(schema, 'schema');

describe('what is enforced', () => {
  it.each([
    [{}],
    [{ type: 'object' }],
    [{ properties: { a: text }, required: ['a'], additionalProperties: false, title: 'A', 'x-own': 1 }],
    [{ type: 'array', items: { $ref: '#/$defs/a' }, maxItems: 5, $defs: { a: { enum: ['a', 'b'] } } }],
    [{ type: 'array', prefixItems: [text, text], minItems: 2, maxItems: 2 }],
    [{ type: 'string', pattern: '^[0-9]{3}$' }],
    [{ type: 'string', pattern: '^(a|b)[|]\\|$' }],
    [{ type: 'string', format: 'date-time' }],
    [{ type: ['string', 'null'], maxLength: 5 }],
    [{ type: ['string', 'null'], enum: ['F', 'C'] }],
    [{ type: ['string', 'null'], enum: ['F', 'C', null] }],
    [{ type: 'integer', minimum: 1, exclusiveMaximum: 9 }],
    [{ type: 'string', minimum: 5 }],
    [{ anyOf: [{ const: 1 }, { type: 'null' }], description: 'One or nothing' }],
  ])('%j passes', (schema) => {
    expect(fault(schema)).toBeNull();
  });
});

describe('what is not enforced is named with its path', () => {
  it.each([
    [{ type: 'string', pattern: '[0-9]{3}' }, "schema: a 'pattern' is enforced from ^ to $"],
    [{ type: 'string', pattern: '^[0-9]{3}' }, 'anchor it'],
    [{ type: 'string', pattern: '^a\\$' }, 'anchor it'],
    [{ type: 'string', pattern: '^a|b$' }, 'anchor it'],
    [{ type: ['string', 'null'], enum: ['F', 5] }, "'type' and the values do not agree"],
    [{ not: text }, "schema: 'not'"],
    [{ properties: { code: { not: text } } }, "schema.properties.code: 'not'"],
    [{ type: 'array', items: { ...text, format: 'email' } }, "schema.items: 'format'"],
    [{ anyOf: [text, { type: 'number', minimum: 1 }] }, "schema.anyOf.1: 'minimum'"],
    [{ $ref: '#/$defs/a', $defs: { a: { ...text, not: {} } } }, "schema.$defs.a: 'not'"],
    [{ $ref: '#/$defs/a', maxLength: 5, $defs: { a: text } }, "schema: 'maxLength'"],
    [{ type: 'object', anyOf: [{ required: ['a'] }] }, "schema: 'type'"],
    [{ oneOf: [text] }, "write 'anyOf'"],
    [{ allOf: [text] }, "'allOf'"],
    [{ type: 'object', required: ['a'] }, "'required'"],
    [{ properties: { a: text }, required: ['b'] }, '\'required\' names "b"'],
    [{ properties: { a: text }, minProperties: 1 }, "'minProperties'"],
    [{ patternProperties: { '^a$': text } }, "'patternProperties'"],
    [{ type: 'array', items: text, uniqueItems: true }, "'uniqueItems'"],
    [{ type: 'array', minItems: 2 }, "'minItems'"],
    [{ type: 'array', prefixItems: [text], minItems: 2 }, "'prefixItems'"],
    [{ ...text, pattern: '^a*$', maxLength: 5 }, "'maxLength'"],
    [{ maxLength: 5 }, "'maxLength'"],
    [{ type: ['integer', 'null'], minimum: 1, multipleOf: 2 }, "'multipleOf'"],
    [{ type: 'integer', minimum: 1.5 }, "'minimum'"],
    [{ type: 'integer', minimum: 1, exclusiveMinimum: 3 }, "'exclusiveMinimum'"],
    [{ ...text, enum: ['a', null] }, "'type' and the values"],
  ])('%j', (schema, sentence) => {
    expect(fault(schema)).toContain(sentence);
  });
});
