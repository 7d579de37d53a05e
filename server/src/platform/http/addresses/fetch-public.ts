import type { IncomingMessage } from 'node:http';
import { type AppError, invalidParam } from '../../errors.ts';
import { isPublicAddress } from './is-public-address.ts';
import { ForbiddenAddress, requestAllowedAddress, UnknownHost } from './request-allowed-address.ts';

const REDIRECTS_MAX = 3;
/** Default limit from the request to the last byte. */
const LIMIT_MS = 20_000;

type Options = {
  /** The request field that contains the URL, for errors. */
  param: string;
  /**
   * Returns true if this IP address may be connected to, for URLs with the origin of the first one. Defaults
   * to public addresses.
   */
  isAllowed?: (address: string) => boolean;
  /** Aborts the request. */
  signal?: AbortSignal;
  /** Limit of the whole request, in milliseconds. */
  limitMs?: number;
  /** The Accept header. Defaults to images. */
  accept?: string;
  /** Request headers, not sent to another origin after a redirect. */
  headers?: Readonly<Record<string, string>>;
};

/**
 * Fetches a URL that a user entered, from public machines only. Connects to exactly the address that was
 * checked, also after each of at most three redirects. The caller must limit how much is read. Throws
 * AppError 'invalid_request' with the field, even while streaming. The error has a cause if a retry may
 * succeed: the network failed, or the other server is busy or broken.
 */
export async function fetchPublic(
  start: URL,
  {
    param,
    isAllowed: isAllowedThere = isPublicAddress,
    signal: given,
    limitMs = LIMIT_MS,
    ...asked
  }: Options,
): Promise<AsyncIterable<Buffer>> {
  const signal = AbortSignal.any([AbortSignal.timeout(limitMs), ...(given ? [given] : [])]);
  let url = start;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const isThere = url.origin === start.origin;
    const isAllowed = isThere ? isAllowedThere : isPublicAddress;
    const headers = { accept: asked.accept ?? 'image/*', ...(isThere && asked.headers) };
    const answer = await requestAllowedAddress(url, { isAllowed, signal, headers }).catch(
      (cause: unknown) => {
        throw toRefusal(cause, url, param);
      },
    );
    const { statusCode = 0, headers: answered } = answer;
    if (statusCode === 200) return readBody(answer, param);
    answer.destroy();
    const isRedirect = statusCode >= 300 && statusCode < 400 && answered.location !== undefined;
    if (!isRedirect) throw unexpectedStatus(param, url.host, statusCode);
    if (!URL.canParse(answered.location ?? '', url.href)) throw notPublic(param);
    url = new URL(answered.location ?? '', url);
  }
  throw invalidParam(param, `${param} leads through more than ${REDIRECTS_MAX} redirects`);
}

function toRefusal(cause: unknown, { host, hostname }: URL, param: string): AppError {
  if (cause instanceof ForbiddenAddress) return notPublic(param);
  const unknown = cause instanceof UnknownHost;
  const fault = unknown
    ? `${hostname.replace(/^\[|\]$/g, '')} could not be found`
    : `${host} could not be reached`;
  return invalidParam(param, `${param}: ${fault}`, cause);
}

async function* readBody(answer: IncomingMessage, param: string): AsyncGenerator<Buffer> {
  try {
    yield* answer as AsyncIterable<Buffer>;
  } catch (cause) {
    throw invalidParam(param, `${param} broke off before it was there`, cause);
  }
}

function unexpectedStatus(param: string, host: string, status: number): AppError {
  const message = `${param}: ${host} answered with status ${status}`;
  const isPassing = status === 429 || status >= 500;
  return invalidParam(param, message, isPassing ? new Error(`status ${status}`) : undefined);
}

function notPublic(param: string): AppError {
  return invalidParam(param, `${param} must be a public http or https address`);
}
