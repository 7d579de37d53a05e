import { lookup } from 'node:dns/promises';
import { addAbortListener } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { AppError, refused } from '../../errors.ts';
import { isPublicAddress } from './is-public-address.ts';

const REDIRECTS_MAX = 3;
/** From the first question to the last byte, unless said. */
const LIMIT_MS = 20_000;

type Options = {
  /** The field that the address came in. */
  param: string;
  /** Which addresses of machines may be asked by the origin of the address itself; the public ones unless said. */
  isAllowed?: (address: string) => boolean;
  /** Breaks it off. */
  signal?: AbortSignal;
  /** How long it may take in all. */
  limitMs?: number;
};

/**
 * The bytes behind a stranger's address, which may lead nowhere inside: the machine that is asked is the one whose address
 * was checked, also after each of three redirects. How much of it is read is for the caller to limit. Throws AppError
 * 'invalid_request' with the field, also in the middle of the bytes; with its cause where another time may go better: the
 * network has failed, or who answers is busy or broken.
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

/** The system has limits of its own for this, and cannot be told to break it off: nobody waits for it any longer. */
async function lookUp(name: string, signal: AbortSignal): Promise<{ address: string }[]> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const listener = addAbortListener(signal, () => reject(signal.reason));
  try {
    return await Promise.race([lookup(name, { all: true }), broken]);
  } finally {
    listener[Symbol.dispose]();
  }
}

/** Asks the machine of that address, whatever the name stands for by now. */
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
