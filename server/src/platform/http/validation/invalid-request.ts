import * as z from 'zod';
import { AppError } from '../../errors.ts';
import { describeIssue } from './describe-issue.ts';

const MISSING = 'is required';
// Where a schema has words of its own, they stay.
z.config({ customError: (issue) => (issue.input === undefined ? MISSING : describeIssue(issue)) });

/** What a schema found, as Fastify hands it on. */
type Issue = { instancePath: string; message?: string; params?: { keys?: unknown } };

/** The refusal of input that does not fit its schema, or whose id can name nothing: names the first field that is wrong; of missing ones, all. */
export function toInvalidRequest(error: { validation: Issue[] }): AppError {
  const [first] = error.validation;
  const param = first ? fieldOf(first) : '';
  const message = first?.message ?? 'is not valid';
  const missing = error.validation.filter((one) => one.message === MISSING).map(fieldOf);
  // An id in the wrong form names nothing, like an unknown id.
  const isWrongId = param !== 'cursor' && /^No .+ has this id$/.test(message);
  const code = isWrongId ? 'not_found' : 'invalid_request';
  const refusal = (publicMessage: string) =>
    new AppError(code, { publicMessage, ...(param && { param }), cause: error });
  if (message === MISSING && param)
    return refusal(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required`);
  return refusal(sentenceOf(param, message));
}

/** What is wrong with a field, or with the body where it is none, as a sentence that names it. */
export function sentenceOf(param: string, message: string): string {
  if (isOwnSentence(message)) return message;
  const name = param || 'The body';
  return /^(must|is) /.test(message) ? `${name} ${message}` : `${name}: ${message}`;
}

/** The path of the field; of one that is not known, its own name. */
function fieldOf({ instancePath, params }: Issue): string {
  const [unknown] = Array.isArray(params?.keys) ? (params.keys as unknown[]) : [];
  const path = instancePath.split('/').filter(Boolean);
  return (typeof unknown === 'string' ? [...path, unknown] : path).join('.');
}

/** What `describeIssue` says goes behind the field's name, as what zod says does; other sentences name it themselves. */
function isOwnSentence(message: string): boolean {
  return !/^(must |is required|Invalid|Unrecognized)/.test(message);
}
