import { fetchAnswer } from '../../../lib/api/fetch-answer.ts';
import { sessionSettled } from '../../../lib/session/session-change.ts';

/**
 * Calls a path of the sign-in library under `/api/auth`. Throws an `ApiError` with the server's message;
 * `operation` completes 'Failed to …' if there is none.
 */
export async function authRequest<Answer>(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
  operation = 'sign in',
  signal?: AbortSignal,
): Promise<Answer> {
  if (method === 'GET') await sessionSettled(signal);
  return fetchAnswer(
    `/api/auth/${path}`,
    {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    },
    { operation, signal, read: async (response) => (await response.json()) as Answer },
  );
}
