import { lookup } from 'node:dns/promises';
import { addAbortListener } from 'node:events';
import http, { type Agent, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';

/** Thrown if an address must not be connected to. */
export class ForbiddenAddress extends Error {}
/** Thrown if a host name has no address. */
export class UnknownHost extends Error {}

type Options = {
  /** Returns true if this IP address may be connected to. */
  isAllowed: (address: string) => boolean;
  signal: AbortSignal;
  headers: Record<string, string>;
  /** Agent that reuses connections. By default, each request opens one. */
  agent?: Agent;
  /** Body to send as JSON; then the method is POST instead of GET. */
  body?: object;
};

/**
 * Sends a GET or POST to exactly the address that was checked for the URL's host. Follows no redirect. Throws
 * ForbiddenAddress, also for a URL that is not http(s) or contains a password. Throws UnknownHost and network
 * errors too.
 */
export async function requestAllowedAddress(
  url: URL,
  { isAllowed, ...options }: Options,
): Promise<IncomingMessage> {
  return sendRequest(url, await resolve(url, { isAllowed, signal: options.signal }), options);
}

/** Returns the first address of a URL's host. Throws unless all addresses of the host are allowed. */
async function resolve(
  { protocol, hostname, username, password }: URL,
  { isAllowed, signal }: Pick<Options, 'isAllowed' | 'signal'>,
): Promise<string> {
  const isWeb = protocol === 'http:' || protocol === 'https:';
  if (!isWeb || username !== '' || password !== '') throw new ForbiddenAddress(hostname);
  const name = hostname.replace(/^\[|\]$/g, '');
  const found = await lookUp(name, signal).catch((cause: unknown) => {
    throw new UnknownHost(name, { cause });
  });
  const [first] = found;
  if (!first || !found.every(({ address }) => isAllowed(address))) throw new ForbiddenAddress(hostname);
  return first.address;
}

/** Looks up a name until the signal aborts. A DNS lookup cannot be aborted, so its result is ignored then. */
async function lookUp(name: string, signal: AbortSignal): Promise<{ address: string }[]> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const listener = addAbortListener(signal, () => reject(signal.reason));
  try {
    return await Promise.race([lookup(name, { all: true }), broken]);
  } finally {
    listener[Symbol.dispose]();
  }
}

/** Connects to the address that was checked, without another lookup. */
function sendRequest(
  url: URL,
  address: string,
  { agent, signal, headers, body }: Omit<Options, 'isAllowed'>,
): Promise<IncomingMessage> {
  const sent = body && JSON.stringify(body);
  return new Promise((done, fail) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      agent: agent ?? false,
      signal,
      method: sent === undefined ? 'GET' : 'POST',
      headers: {
        'accept-encoding': 'identity',
        'user-agent': 'Bakehouse',
        ...(sent !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(sent),
        }),
        ...headers,
      },
      lookup: (_name, { all }, answer) => {
        const family = isIP(address);
        if (all) answer(null, [{ address, family }]);
        else answer(null, address, family);
      },
    });
    request.on('response', done);
    request.on('error', fail);
    request.end(sent);
  });
}
