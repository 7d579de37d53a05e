import { lookup } from 'node:dns/promises';
import { addAbortListener } from 'node:events';
import http, { type Agent, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';

/** Thrown for an address that may not be connected to. */
export class ForbiddenAddress extends Error {}
/** Thrown for a host name without an address. */
export class UnknownHost extends Error {}

type Options = {
  /** Decides which IP addresses may be connected to. */
  isAllowed: (address: string) => boolean;
  signal: AbortSignal;
  headers: Record<string, string>;
  /** Reuses connections for further requests. Defaults to no reuse. */
  agent?: Agent;
  /** Sent as JSON by POST. */
  body?: object;
};

/**
 * Sends a GET, or a POST, to exactly the checked address of a URL's host, and follows no redirect. Throws
 * ForbiddenAddress (also for a URL that is not http(s) or contains a password), UnknownHost, and network
 * errors.
 */
export async function requestAllowedAddress(
  url: URL,
  { isAllowed, ...options }: Options,
): Promise<IncomingMessage> {
  return ask(url, await resolve(url, { isAllowed, signal: options.signal }), options);
}

/** Returns the address of a URL's host; all addresses of the name must be allowed. */
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

/** A DNS lookup cannot be aborted; its result is ignored after the signal. */
async function lookUp(name: string, signal: AbortSignal): Promise<{ address: string }[]> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const listener = addAbortListener(signal, () => reject(signal.reason));
  try {
    return await Promise.race([lookup(name, { all: true }), broken]);
  } finally {
    listener[Symbol.dispose]();
  }
}

/** Connects to the checked address, whatever the name resolves to by now. */
function ask(
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
