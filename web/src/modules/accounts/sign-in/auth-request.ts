import { fetchAnswer } from '../../../lib/api/fetch-answer.ts';
import { sessionSettled } from '../../../lib/session/session-change.ts';

/**
 * One call to the sign-in library's own paths under `/api/auth`. Throws an `ApiError` with the sentence of the answer;
 * `operation` completes 'Failed to …' where that says nothing.
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
