import { lookup } from 'node:dns/promises';
import { addAbortListener } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { AppError, refused } from '../../errors.ts';
import { isPublicAddress } from './is-public-address.ts';

const REDIRECTS_MAX = 3;
/** From the request to the last byte, unless said. */
const LIMIT_MS = 20_000;

type Options = {
  /** The field that the address was sent in. */
  param: string;
  /** Which machine addresses may be connected to, by the URL's origin; public ones unless said. */
  isAllowed?: (address: string) => boolean;
  /** Aborts the request. */
  signal?: AbortSignal;
  /** Limit of the whole request, in milliseconds. */
  limitMs?: number;
};

/**
 * Fetches the bytes behind a URL that a user sent, from public machines only: it connects to the very address that
 * was checked, also after each of three redirects. The caller limits how much is read. Throws AppError
 * 'invalid_request' with the field, also in the middle of the bytes; with a cause where a retry may succeed: the
 * network failed, or the other server is busy or broken.
 */
export async function fetchPublic(
  start: URL,
  { param, isAllowed: isAllowedThere = isPublicAddress, signal: given, limitMs = LIMIT_MS }: Options,
): Promise<AsyncIterable<Buffer>> {
  const signal = AbortSignal.any([AbortSignal.timeout(limitMs), ...(given ? [given] : [])]);
  let url = start;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const isAllowed = url.origin === start.origin ? isAllowedThere : isPublicAddress;
    const address = await resolve(url, { param, isAllowed, signal });
    const answer = await ask(url, address, signal).catch((cause: unknown) => {
      throw refused(param, `${param}: ${url.host} could not be reached`, cause);
    });
    const { statusCode = 0, headers } = answer;
    if (statusCode === 200) return readBody(answer, param);
    answer.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400 && headers.location !== undefined;
    if (!isRedirect) throw unexpectedStatus(param, url.host, statusCode);
    if (!URL.canParse(headers.location ?? '', url.href)) throw notPublic(param);
    url = new URL(headers.location ?? '', url);
  }
  throw refused(param, `${param} leads through more than ${REDIRECTS_MAX} redirects`);
}

/** The address of the machine behind a URL; all that its name stands for have to be allowed. */
async function resolve(
  { protocol, hostname, username, password }: URL,
  { param, isAllowed, signal }: Required<Omit<Options, 'limitMs'>>,
): Promise<string> {
  const isWeb = protocol === 'http:' || protocol === 'https:';
  if (!isWeb || username !== '' || password !== '') throw notPublic(param);
  const name = hostname.replace(/^\[|\]$/g, '');
  const found = await lookUp(name, signal).catch((cause: unknown) => {
    throw refused(param, `${param}: ${name} could not be found`, cause);
  });
  const [first] = found;
  if (!first || !found.every(({ address }) => isAllowed(address))) throw notPublic(param);
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

/** Connects to the address that was checked, whatever the name resolves to by now. */
function ask(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const request = (url.protocol === 'https:' ? https : http).get(url, {
      agent: false,
      signal,
      headers: { accept: 'image/*', 'accept-encoding': 'identity', 'user-agent': 'Bakehouse' },
      lookup: (_name, { all }, answer) => {
        const family = isIP(address);
        if (all) answer(null, [{ address, family }]);
        else answer(null, address, family);
      },
    });
    request.on('response', done);
    request.on('error', fail);
  });
}

async function* readBody(answer: IncomingMessage, param: string): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>;
  } catch (cause) {
    throw refused(param, `${param} broke off before the picture was there`, cause);
  }
}

function unexpectedStatus(param: string, host: string, status: number): AppError {
  const message = `${param}: ${host} answered with status ${status}`;
  const isPassing = status === 429 || status >= 500;
  return refused(param, message, isPassing ? new Error(`status ${status}`) : undefined);
}

function notPublic(param: string): AppError {
  return refused(param, `${param} must be a public http or https address`);
}
