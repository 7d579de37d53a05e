import { refused } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { headerText } from '../../../platform/http/callers/find-caller.ts';

/** The first API version with today's stream format. */
const FIRST = '2023-06-01';

/** Sets the request id header. Throws AppError 'invalid_request' for an older version of Anthropic's API. */
export function checkVersion({ request, reply }: Http): void {
  reply.header('request-id', request.id);
  const version = headerText(request.headers['anthropic-version']) ?? FIRST;
  if (/^\d{4}-\d{2}-\d{2}$/.test(version) && version >= FIRST) return;
  throw refused('anthropic-version', `anthropic-version: this server speaks ${FIRST} and what came after`);
}
