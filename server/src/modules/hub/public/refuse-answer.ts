import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '../../../platform/errors.ts';
import { unreachable } from './ask-hub.ts';
import { readRetryAfter } from './read-retry-after.ts';

/**
 * Returns the error for a failed response of the public hub; never 401 or 403, which would refer to the
 * caller's key here.
 */
export function refuseAnswer(
  { statusCode, headers }: { statusCode: number; headers: IncomingHttpHeaders },
  { what, token }: { what: string; token: string | null },
): AppError {
  const code = String(headers['x-error-code'] ?? '');
  if (code === 'GatedRepo') return gatedError(what, token);
  if (statusCode === 429) {
    const ms = readRetryAfter(headers['retry-after'], new Date());
    const when = ms === null ? 'a moment' : `${Math.ceil(ms / 1000)} s`;
    return new AppError('unavailable', {
      publicMessage: `The public hub takes no more requests for now. Try again in ${when}`,
    });
  }
  // The hub reports a private repository as missing.
  if ([401, 403, 404].includes(statusCode)) {
    if (statusCode !== 404 && token !== null && code !== 'RepoNotFound') return refusedToken();
    return new AppError('not_found', { publicMessage: `The public hub has no ${what} that you may read` });
  }
  return unreachable(new Error(`status ${statusCode}`));
}

function gatedError(what: string, token: string | null): AppError {
  return new AppError('conflict', {
    publicMessage:
      token === null
        ? `The ${what} is gated: accept its terms on the public hub, and save an access token of your account there`
        : `The ${what} is gated, and the account of your token has no access: accept its terms on the public hub`,
  });
}

function refusedToken(): AppError {
  return new AppError('conflict', {
    publicMessage: 'The public hub refuses your access token. Save another one, or delete it',
  });
}
