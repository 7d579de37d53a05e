import { ApiError, toApiError } from '../../../lib/api/api-error.ts';
import { checkServer, noteAnswer } from '../../../lib/live/online.ts';

const TIMEOUT_MS = 10_000;

/**
 * One call to the sign-in library's own paths under `/api/auth`. Throws an `ApiError` with the library's sentence;
 * `operation` completes 'Failed to …' where it says nothing.
 */
export async function authRequest<Answer>(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  operation = 'sign in',
): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(`/api/auth/${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    noteAnswer(response.status);
  } catch (error) {
    void checkServer();
    if (error instanceof DOMException && error.name === 'TimeoutError') {
      throw new ApiError(`Request timeout after ${TIMEOUT_MS}ms`, { status: 0, code: 'timeout' });
    }
    throw new ApiError('The server cannot be reached. Check your connection and try again.', {
      status: 0,
      code: 'network',
    });
  }
  if (!response.ok)
    throw toApiError(response.status, await response.text(), response.headers.get('x-request-id'), operation);
  return (await response.json()) as Answer;
}
