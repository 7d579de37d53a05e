import * as z from 'zod';
import { AppError } from '../../errors.ts';
import { describeIssue } from './describe-issue.ts';

const MISSING = 'is required';
// A schema's own messages take precedence.
z.config({ customError: (issue) => (issue.input === undefined ? MISSING : describeIssue(issue)) });

/** A schema error as passed on by Fastify. */
type Issue = { instancePath: string; message?: string; params?: { keys?: unknown } };

/**
 * Returns the error for input that does not match its schema, or whose id cannot exist: names the first
 * invalid field; for missing fields, all of them.
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

/** The path of the field; for an unknown field, its own name. */
function fieldOf({ instancePath, params }: Issue): string {
  const [unknown] = Array.isArray(params?.keys) ? (params.keys as unknown[]) : [];
  const path = instancePath.split('/').filter(Boolean);
  return (typeof unknown === 'string' ? [...path, unknown] : path).join('.');
}

/** Messages of `describeIssue` and zod follow the field's name; other sentences name it themselves. */
function isOwnSentence(message: string): boolean {
  return !/^(must |is required|Invalid|Unrecognized)/.test(message);
}
