import { getApiKey, getMe } from '@bakehouse/contract/accounts';
import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import type { ErrorBody } from '@bakehouse/contract/errors';
import type { z } from 'zod';

export type TestUser = {
  userId: string;
  apiKey: string;
  email: string;
  /** Cookie of the browser session. */
  cookie: string;
};

type RequestOptions = {
  as?: { apiKey: string };
  idempotencyKey?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export type TestClient = {
  /** Calls an endpoint over HTTP and returns the parsed response. Throws WireError on an error status. */
  request: <E extends Endpoint>(
    endpoint: E,
    call: CallOf<E>,
    options?: RequestOptions,
  ) => Promise<ResponseOf<E>>;
  /** Like `request`, but returns the raw response: for streams, files and headers. */
  send: <E extends Endpoint>(endpoint: E, call: CallOf<E>, options?: RequestOptions) => Promise<Response>;
  /** Signs up a user like the sign-up page. */
  signUp: (name?: string) => Promise<TestUser>;
};

/** An error response of the server. */
export class WireError extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    super(`${status} ${body.error?.code}: ${body.error?.message}`);
    this.name = 'WireError';
    this.status = status;
    this.code = body.error?.code;
    this.body = body;
  }
}

/** Returns a client that calls the server at `url` as its users would. */
export function testClient(url: string): TestClient {
  const send: TestClient['send'] = (endpoint, call, requestOptions) =>
    fetch(...toFetch(url, endpoint, call, requestOptions));
  const request: TestClient['request'] = async (endpoint, call, requestOptions) => {
    const response = await send(endpoint, call, requestOptions);
    const text = await response.text();
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    if (!response.ok) throw new WireError(response.status, body as ErrorBody);
    return body as ResponseOf<typeof endpoint>;
  };
  let users = 0;

  return {
    request,
    send,
    signUp: async (name) => {
      users += 1;
      const email = `${name?.toLowerCase().replace(/\W+/g, '-') ?? 'user'}-${users}@example.com`;
      const response = await fetch(`${url}/api/auth/sign-up/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({
          name: name ?? `User ${users}`,
          email,
          password: 'correct horse battery staple',
        }),
      });
      if (!response.ok) throw new WireError(response.status, (await response.json()) as ErrorBody);
      const { user } = (await response.json()) as { user: { id: string } };
      const cookie = response.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const { data: apiKey } = await request(
        getApiKey,
        { query: { user_id: user.id } },
        { headers: { cookie } },
      );
      await request(getMe, {}, { as: { apiKey } });
      return { userId: user.id, apiKey, email, cookie };
    },
  };
}

/**
 * Returns arguments for `fetch`, not a Request, whose signal would no longer work once the object is garbage
 * collected.
 */
function toFetch<E extends Endpoint>(
  origin: string,
  endpoint: E,
  call: CallOf<E>,
  options: RequestOptions = {},
): [URL, RequestInit] {
  const { params, query, body } = call as { params?: object; query?: object; body?: z.core.util.JSONType };
  const url = new URL(endpointUrl(endpoint.path, params, query), origin);
  const headers = new Headers(options.headers);
  if (options.as) headers.set('x-api-key', options.as.apiKey);
  if (options.idempotencyKey) headers.set('idempotency-key', options.idempotencyKey);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const init = {
    method: endpoint.method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal: options.signal ?? null,
  };
  return [url, init];
}
