import { checkServer, recordServerStatus } from '../live/online.ts';
import { ApiError, toApiError } from './api-error.ts';

const TIMEOUT_MS = 10_000;

type Options<Answer> = {
  /** Reads the response. The timeout covers it too. */
  read: (response: Response) => Promise<Answer> | Answer;
  /** Completes 'Failed to …' if the response has no message. */
  operation: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds to wait for a response. Defaults to 10,000. */
  timeoutMs?: number | undefined;
};

/**
 * Sends one request. Throws an `ApiError` with a displayable message if it is rejected or times out, or the
 * signal's reason on abort.
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
    recordServerStatus(response.status);
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

/** Returns true on a DNS failure. Only Safari distinguishes it from other network errors. */
function isLookupFailure(error: unknown): boolean {
  return error instanceof Error && error.message.includes('hostname could not be found');
}
