import * as z from 'zod';
import { AppError } from '../../errors.ts';
import { describeIssue } from './describe-issue.ts';

const MISSING = 'is required';
// Only used if the schema has no message of its own.
z.config({ customError: (issue) => (issue.input === undefined ? MISSING : describeIssue(issue)) });

/** A schema error in the format of Fastify. */
type Issue = { instancePath: string; message?: string; params?: { keys?: unknown } };

/**
 * Returns the error for input that does not match its schema. It names the first invalid field, or all
 * missing fields. A malformed id returns 'not_found', because no such id can exist.
 */
export function toInvalidRequest(error: { validation: Issue[] }): AppError {
  const [first] = error.validation;
  const param = first ? fieldOf(first) : '';
  const message = first?.message ?? 'is not valid';
  const missing = error.validation.filter((one) => one.message === MISSING).map(fieldOf);
  // A malformed id is treated like an unknown id.
  const isWrongId = param !== 'cursor' && /^No .+ has this id$/.test(message);
  const code = isWrongId ? 'not_found' : 'invalid_request';
  const refusal = (publicMessage: string) =>
    new AppError(code, { publicMessage, ...(param && { param }), cause: error });
  if (message === MISSING && param)
    return refusal(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required`);
  return refusal(sentenceOf(param, message));
}

/** Returns a sentence that names the invalid field, or the body. */
export function sentenceOf(param: string, message: string): string {
  if (isOwnSentence(message)) return message;
  const name = param || 'The body';
  return /^(must|is) /.test(message) ? `${name} ${message}` : `${name}: ${message}`;
}

/** Returns the path of the field. For an unknown field, the path ends with its name. */
function fieldOf({ instancePath, params }: Issue): string {
  const [unknown] = Array.isArray(params?.keys) ? (params.keys as unknown[]) : [];
  const path = instancePath.split('/').filter(Boolean);
  return (typeof unknown === 'string' ? [...path, unknown] : path).join('.');
}

/**
 * Returns true if a message is a complete sentence. Messages of `describeIssue` and zod are not: they must
 * follow the field's name.
 */
function isOwnSentence(message: string): boolean {
  return !/^(must |is required|Invalid|Unrecognized)/.test(message);
}
