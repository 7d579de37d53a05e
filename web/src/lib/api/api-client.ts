import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { checkServer, noteAnswer } from '../live/online.ts';
import { ApiError, toApiError } from './api-error.ts';
import { getCredentials } from './credentials.ts';
import { broadcastSession } from './session-channel.ts';
import { forgetReads, shareRead } from './shared-reads.ts';

const TIMEOUT_MS = 10_000;

type Options = {
  /** Beside those of every call. */
  headers?: Record<string, string>;
  /** Needed by calls that spend: the same key for the same attempt, so that a repeat is answered and not charged twice. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds without an answer before the call is given up; 10,000 unless said. */
  timeoutMs?: number;
  /** What becomes of an answer that leads elsewhere; it is followed unless said. */
  redirect?: RequestRedirect;
  /** What is said where there is no key; 'API key not found' unless said. */
  noKey?: string;
  /** Completes 'Failed to …' when the answer says nothing. */
  operation?: string;
};

/** The parts of a call; an endpoint without any takes none. */
type Arguments<E extends Endpoint> =
  Record<string, never> extends CallOf<E>
    ? [input?: CallOf<E>, options?: Options]
    : [input: CallOf<E>, options?: Options];

/**
 * Calls one endpoint of the contract and returns its answer. Throws an `ApiError` whose message can be
 * shown, or the signal's reason when it was aborted. A 401 or 403 tells all tabs to read their session again.
 */
export async function call<E extends Endpoint>(
  endpoint: E,
  ...[input, options = {}]: Arguments<E>
): Promise<ResponseOf<E>> {
  const { params, query, body } = (input ?? {}) as { params?: object; query?: object; body?: unknown };
  const url = endpointUrl(endpoint.path, params, query);
  if (endpoint.method === 'GET') {
    const who = getCredentials()?.apiKey ?? '';
    return shareRead(`${who} ${url}`, options.signal, (signal) =>
      ask<E>(endpoint, url, body, { ...options, signal }),
    );
  }
  try {
    return await ask<E>(endpoint, url, body, options);
  } finally {
    forgetReads();
  }
}

async function ask<E extends Endpoint>(
  endpoint: E,
  url: string,
  body: unknown,
  options: Options,
): Promise<ResponseOf<E>> {
  const response = await request(endpoint, url, body, options);
  if (response.status === 204) return undefined as ResponseOf<E>;
  return (await response.json()) as ResponseOf<E>;
}

/** The answer itself, for endpoints that send bytes or a stream. The timeout covers the time to the first byte. */
export async function callRaw<E extends Endpoint>(
  endpoint: E,
  ...[input, options = {}]: Arguments<E>
): Promise<Response> {
  const { params, query, body } = (input ?? {}) as { params?: object; query?: object; body?: unknown };
  return request(endpoint, endpointUrl(endpoint.path, params, query), body, options);
}

async function request(endpoint: Endpoint, url: string, body: unknown, options: Options): Promise<Response> {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const operation = options.operation ?? 'reach the server';
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  const headers = new Headers({ ...options.headers, ...keyHeader(endpoint, options.noKey) });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (endpoint.spends) {
    // One made here would be another one for the repeat.
    if (!options.idempotencyKey) throw new Error(`${endpoint.path} spends, and was given no idempotency key`);
    headers.set('idempotency-key', options.idempotencyKey);
  }
  try {
    const response = await fetch(url, {
      method: endpoint.method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: options.redirect ?? 'follow',
      signal: options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal,
    });
    noteAnswer(response.status);
    if (response.ok) return response;
    throw refused(
      endpoint,
      toApiError(response.status, await response.text(), response.headers.get('x-request-id'), operation),
    );
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (options.signal?.aborted) throw error;
    void checkServer();
    if (timeout.signal.aborted)
      throw new ApiError(`Request timeout after ${timeoutMs}ms`, { status: 0, code: 'timeout' });
    const offline = endpoint.method === 'GET' && !navigator.onLine;
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

/** Throws where the endpoint needs a key and there is none. */
export function keyHeader(endpoint: Endpoint, noKey = 'API key not found'): Record<string, string> {
  const credentials = getCredentials();
  if (endpoint.access === 'key_or_session') return credentials ? { 'x-api-key': credentials.apiKey } : {};
  if (endpoint.access !== 'key' && endpoint.access !== 'operator') return {};
  if (!credentials) throw new ApiError(noKey, { status: 0, code: 'no_key' });
  return { 'x-api-key': credentials.apiKey };
}

/** Passes the error on; where the key was refused, tells all tabs first. */
export function refused(endpoint: Endpoint, error: ApiError): ApiError {
  const aboutTheKey = endpoint.access === 'key' || endpoint.access === 'operator';
  if (aboutTheKey && (error.status === 401 || error.status === 403)) {
    broadcastSession({ type: 'invalid-key', userId: getCredentials()?.userId ?? null });
  }
  return error;
}
