import { checkServer, noteAnswer } from '../live/online.ts';
import { ApiError, toApiError } from './api-error.ts';

const TIMEOUT_MS = 10_000;

type Options<Answer> = {
  /** What is taken of the answer, which counts as part of it: the time limit covers it. */
  read: (response: Response) => Promise<Answer> | Answer;
  /** Completes 'Failed to …' when the answer says nothing. */
  operation: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds without an answer before the request is given up; 10,000 unless said. */
  timeoutMs?: number | undefined;
};

/**
 * One request to the server. Throws an `ApiError` whose message can be shown when it is refused or not answered in time, or
 * the signal's reason when it was aborted.
 */
export async function fetchAnswer<Answer>(
  url: string,
  init: RequestInit,
  { read, operation, signal, timeoutMs = TIMEOUT_MS }: Options<Answer>,
): Promise<Answer> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const response = await fetch(url, {
      ...init,
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    noteAnswer(response.status);
    if (response.ok) return await read(response);
    const requestId = response.headers.get('x-request-id');
    throw toApiError(response.status, await response.text(), requestId, operation);
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    void checkServer();
    if (timeout.signal.aborted)
      throw new ApiError(`Request timeout after ${timeoutMs}ms`, { status: 0, code: 'timeout' });
    const offline = init.method === 'GET' && !navigator.onLine;
    throw new ApiError(
      offline
        ? 'Network offline and no cached data available'
        : 'The server cannot be reached. Check your connection and try again.',
      { status: 0, code: isLookupFailure(error) ? 'lookup' : 'network' },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the server's name is unknown. Safari says so; other browsers say the same of everything that fails. */
function isLookupFailure(error: unknown): boolean {
  return error instanceof Error && error.message.includes('hostname could not be found');
}
