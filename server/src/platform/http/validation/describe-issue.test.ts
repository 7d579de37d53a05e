import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { describeIssue } from './describe-issue.ts';

const said = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value, { error: (issue) => describeIssue(issue) }).error?.issues[0]?.message;

describe('describes invalid fields in English', () => {
  test.each<[z.ZodType, unknown, string]>([
    [z.array(z.string()).min(1), [], 'must have at least 1 item'],
    [z.array(z.string()).max(2), ['a', 'b', 'c'], 'must have at most 2 items'],
    [z.string().min(1), '', 'must not be empty'],
    [z.string().max(3), 'bread', 'must have at most 3 characters'],
    [z.number().min(1), 0, 'must be at least 1'],
    [z.number().gt(0), 0, 'must be more than 0'],
    [z.number().max(100), 101, 'must be at most 100'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.number(), 'many', 'must be a number'],
    [z.string(), 5, 'must be text'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), 'a', 'must be a list'],
    [z.object({}), 5, 'must be an object'],
    [z.enum(['RAW', 'MODEL']), 'X', 'must be one of RAW, MODEL'],
    [z.literal(1), 2, 'must be 1'],
    [z.uuid(), 'x', 'must be an id such as 123e4567-e89b-12d3-a456-426614174000'],
    [z.email(), 'x', 'must be an email address'],
    [z.union([z.string(), z.array(z.string())]), 5, 'must be text or a list'],
    [z.union([z.string(), z.array(z.string()), z.null()]), 5, 'must be text or a list'],
    [z.union([z.string(), z.array(z.string()).min(1)]), [], 'must have at least 1 item'],
    [z.union([z.string(), z.array(z.string())]), ['a', 5], 'must be text at 1'],
    [z.union([z.array(z.string()).length(1, 'One.'), z.array(z.int())]), ['a', 'b'], 'One.'],
    [z.union([z.literal(1), z.literal(2)]).nullish(), 5, 'must be 1'],
    [z.record(z.string().regex(/^a$/, 'Only a.'), z.int()), { b: 1 }, 'Only a.'],
  ])('%#', (schema, value, sentence) => {
    expect(said(schema, value)).toBe(sentence);
  });
});
