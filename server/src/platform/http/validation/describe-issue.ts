import type * as z from 'zod';

const units: Record<string, string> = { string: 'character', array: 'item', set: 'item' };

const types: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const formats: Record<string, string> = {
  uuid: 'an id such as 123e4567-e89b-12d3-a456-426614174000',
  datetime: 'an instant such as 2030-01-31T12:00:00Z',
  date: 'a date such as 2030-01-31',
  email: 'an email address',
  url: 'an address such as https://example.com',
};

/** Describes an error of a field, such as 'must have at least 1 item'. Falls back to zod's text. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const format = 'format' in issue ? issue.format : undefined;
      return `must be ${types[format === 'safeint' ? 'int' : issue.expected] ?? `a ${issue.expected}`}`;
    }
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return bound(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_format':
      return formats[issue.format] && `must be ${formats[issue.format]}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `must be one of ${issue.options.map(String).join(', ')}`
        : describeUnion(issue.errors);
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues[0]?.message;
    default:
      return undefined;
  }
}

/** Describes the error of the branch whose type matches the input; otherwise lists the accepted types. */
function describeUnion(branches: z.core.$ZodIssue[][]): string | undefined {
  const isOfOtherKind = (issues: z.core.$ZodIssue[]) =>
    issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0);
  const [closest] = branches
    .filter((issues) => !isOfOtherKind(issues))
    .toSorted((a, b) => a.length - b.length);
  if (closest?.[0]) {
    const { message, path } = closest[0];
    return path.length > 0 ? `${message} at ${path.join('.')}` : message;
  }
  const kinds = branches
    .flatMap((issues) => issues.map((issue) => (issue.code === 'invalid_type' ? issue.expected : '')))
    .filter((kind) => kind !== '' && kind !== 'null');
  const words = [...new Set(kinds.map((kind) => types[kind] ?? `a ${kind}`))];
  return words.length > 0 ? `must be ${words.join(' or ')}` : undefined;
}

function bound(origin: string, limit: number | bigint | string, word: string): string {
  const unit = units[origin];
  if (!unit) return `must be ${word} ${limit}`;
  if (unit === 'character' && word === 'at least' && Number(limit) === 1) return 'must not be empty';
  return `must have ${word} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}
