import type { FastifyInstance, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import { findUnstorable } from '../../db/storable-text.ts';
import { invalidParam, invalidRequest } from '../../errors.ts';
import { sentenceOf } from '../validation/invalid-request.ts';
import { isPageRequest, PAGE_ROUTE } from '../web-app.ts';

/** Far deeper than any valid body, and still safe for recursive code. */
const DEPTH_MAX = 100;

/** Maximum number of path segments in an error message. */
const NAMES_MAX = 10;

/**
 * Parses the fields that accompany a file, from a multipart form or from JSON. Throws AppError
 * 'invalid_request' naming the first invalid field.
 */
export function parseFields<Schema extends z.ZodObject>(schema: Schema, fields: unknown): z.output<Schema> {
  const unstorable = findUnstorable(fields);
  if (unstorable) {
    const param = unstorable.join('.');
    throw invalidParam(param, sentenceOf(param, 'has characters that cannot be stored'));
  }
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // For an unknown field, the issue lists its name separately.
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const param = [...(issue?.path ?? []), ...unknown].join('.');
  throw invalidParam(param, sentenceOf(param, issue?.message ?? 'is not valid'), parsed.error);
}

/**
 * Returns true if a JSON text has more than `max` commas, brackets and strings. Does not parse the text,
 * which could block the event loop. Ignores the contents of strings.
 */
export function hasMoreTokens(json: string, max: number): boolean {
  const token = /[",[{]/g;
  for (let count = 0; token.test(json); count += 1) {
    if (count === max) return true;
    if (json[token.lastIndex - 1] === '"') token.lastIndex = endOfString(json, token.lastIndex);
  }
  return false;
}

/** Returns the index after the closing quote of the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  for (let end = json.indexOf('"', from); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = end;
    while (json[escapes - 1] === '\\') escapes -= 1;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
  return json.length;
}

/**
 * Answers with 400, naming the field, if a path, a query or a parsed body contains text that PostgreSQL
 * cannot store, or if a body is nested too deeply. Reports of workloads are not rejected but cleaned later,
 * because they quote libraries and data files. Requests for pages of the web app and streamed bodies are not
 * checked.
 */
export function rejectUnstorable(app: FastifyInstance): void {
  // Check before authentication, which looks up the workload that the path names.
  app.addHook('onRequest', async (request) => {
    // Decide by the route, because the URL may be percent-encoded.
    if (isPage(request)) return;
    assertStorable(request.params);
    assertStorable(request.query);
  });
  app.addHook('preValidation', async (request) => {
    if (request.caller.kind === 'workload' || ArrayBuffer.isView(request.body)) return;
    assertDepth(request.body);
    assertStorable(request.body);
  });
}

function isPage(request: FastifyRequest): boolean {
  return isPageRequest(request) && (request.is404 || request.routeOptions.url === PAGE_ROUTE);
}

/** Throws if a value is nested too deeply. Not recursive, because the sender controls the depth. */
function assertDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; depth <= DEPTH_MAX; depth += 1) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
    if (level.length === 0) return;
  }
  throw invalidRequest(`The body is nested more than ${DEPTH_MAX} levels deep`);
}

function assertStorable(input: unknown): void {
  const path = findUnstorable(input);
  if (path === null) return;
  const param = path.slice(0, NAMES_MAX).join('.');
  throw invalidParam(
    param,
    `${param} contains a character that cannot be stored: NUL or half of a surrogate pair. Remove it`,
  );
}
