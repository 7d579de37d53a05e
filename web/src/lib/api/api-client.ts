import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { sessionSettled } from '../session/session-change.ts';
import { broadcastSession } from '../session/session-channel.ts';
import { forgetKey, refuseKey } from '../session/unanswered-keys.ts';
import { ApiError } from './api-error.ts';
import { getCredentials } from './credentials.ts';
import { fetchAnswer } from './fetch-answer.ts';
import { isRefused } from './idempotency-key.ts';
import { forgetReads, shareRead } from './shared-reads.ts';

export type CallOptions = {
  /** Beside those of every call. */
  headers?: Record<string, string>;
  /** Needed by calls that spend: the same key for the same attempt, so that a repeat is answered and not charged twice. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds without the whole answer before the call is given up; 10,000 unless said. */
  timeoutMs?: number;
  /** What becomes of an answer that leads elsewhere; it is followed unless said. */
  redirect?: RequestRedirect;
  /** Goes by the session's cookie and sends no key: the one at hand may be an old one. */
  bySession?: boolean;
  /** What is said where there is no key; 'API key not found' unless said. */
  noKey?: string;
  /** Completes 'Failed to …' where the answer says nothing; what the endpoint's own name says unless given. */
  operation?: string;
  /** It is sent to its end though the page is left; the browser takes 64 KB of them. */
  keepalive?: boolean;
};

/** The parts of a call; an endpoint without any takes none. */
export type CallArguments<E extends Endpoint> =
  Record<string, never> extends CallOf<E>
    ? [input?: CallOf<E>, options?: CallOptions]
    : [input: CallOf<E>, options?: CallOptions];

/**
 * Calls one endpoint of the contract and returns its answer. Throws an `ApiError` whose message can be
 * shown, or the signal's reason when it was aborted. A 401 or 403 tells all tabs to read their session again.
 */
export async function call<E extends Endpoint>(
  endpoint: E,
  ...[input, options = {}]: CallArguments<E>
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
    const answer = await ask<E>(endpoint, url, body, options);
    if (options.idempotencyKey) forgetKey(options.idempotencyKey);
    return answer;
  } catch (error) {
    if (options.idempotencyKey && isRefused(error)) refuseKey(options.idempotencyKey);
    throw error;
  } finally {
    forgetReads();
  }
}

function ask<E extends Endpoint>(
  endpoint: E,
  url: string,
  body: unknown,
  options: CallOptions,
): Promise<ResponseOf<E>> {
  return request(endpoint, url, body, options, async (response) =>
    response.status === 204 ? (undefined as ResponseOf<E>) : ((await response.json()) as ResponseOf<E>),
  );
}

/** The answer itself, for endpoints that send bytes or a stream. The timeout covers the time to the first byte. */
export async function callRaw<E extends Endpoint>(
  endpoint: E,
  ...[input, options = {}]: CallArguments<E>
): Promise<Response> {
  const { params, query, body } = (input ?? {}) as { params?: object; query?: object; body?: unknown };
  return request(endpoint, endpointUrl(endpoint.path, params, query), body, options, (response) => response);
}

async function request<Answer>(
  endpoint: Endpoint,
  url: string,
  body: unknown,
  options: CallOptions,
  read: (response: Response) => Promise<Answer> | Answer,
): Promise<Answer> {
  const {
    operation = endpoint.operation ?? 'reach the server',
    redirect = 'follow',
    keepalive = false,
    signal,
    timeoutMs,
  } = options;
  if (options.bySession || endpoint.access === 'session') await sessionSettled(signal);
  const headers = new Headers({
    ...options.headers,
    ...(options.bySession ? {} : keyHeader(endpoint, options.noKey)),
  });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (endpoint.spends) {
    // One made here would be another one for the repeat.
    if (!options.idempotencyKey) throw new Error(`${endpoint.path} spends, and was given no idempotency key`);
    headers.set('idempotency-key', options.idempotencyKey);
  }
  const { method } = endpoint;
  const sent = body === undefined ? undefined : JSON.stringify(body);
  try {
    return await fetchAnswer(
      url,
      { method, headers, body: sent, redirect, keepalive },
      { read, operation, signal, timeoutMs },
    );
  } catch (error) {
    throw error instanceof ApiError ? refused(endpoint, error) : error;
  }
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
