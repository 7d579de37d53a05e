import type { IncomingMessage } from 'node:http';
import { askAllowed, RefusedAddress } from '../../../platform/http/addresses/ask-allowed.ts';
import { isPublicAddress } from '../../../platform/http/addresses/is-public-address.ts';
import { RunRefused, ServiceRefused, ServiceUnavailable } from './tracking-service.ts';

const TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

/** Connection parameters of a service. */
export type Access = {
  /** Base URL. */
  url: URL;
  headers: Record<string, string>;
  /** True if the operator allows this host in a private network. */
  isTrusted: boolean;
  /** Display name. */
  name: string;
  /** Statuses that mean the key is refused, not the request. */
  keyRefusals: readonly number[];
};

type Ask = {
  path: string;
  query?: Record<string, string>;
  /** Sent as JSON with POST; without it the request is a GET. */
  body?: object;
};

/**
 * Calls an experiment tracker, only at public addresses unless the operator trusts it. Returns the status,
 * 200 or 404, and the JSON answer; null if it is no JSON. Throws ServiceRefused, RunRefused and
 * ServiceUnavailable with a sentence.
 */
export async function askService(
  { url: base, headers, isTrusted, name, keyRefusals }: Access,
  { path, query = {}, body }: Ask,
): Promise<{ status: number; answer: unknown }> {
  const url = new URL(`${base.pathname.replace(/\/$/, '')}${path}`, base);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const response = await askAllowed(url, {
    isAllowed: isTrusted ? () => true : isPublicAddress,
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body && { body }),
  }).catch((cause: unknown) => {
    throw cause instanceof RefusedAddress
      ? new ServiceRefused(
          `${base.host} is not a public address. Ask the operator of this server to allow it`,
          { param: 'url', cause },
        )
      : new ServiceUnavailable(`${name} could not be reached`, { cause });
  });
  const text = await readText(response, name);
  const { statusCode: status = 0 } = response;
  if (status === 200 || status === 404) return { status, answer: parse(text) };
  const cause = new Error(`${url.host}${url.pathname} answered with ${status}: ${text.slice(0, 500)}`);
  if (keyRefusals.includes(status))
    throw new ServiceRefused(`${name} does not accept this API key`, { cause });
  if (status === 429 || status >= 500)
    throw new ServiceUnavailable(`${name} answered with status ${status}`, { cause });
  throw new RunRefused(`${name} refused the run: it answered with status ${status}`, { cause });
}

async function readText(response: IncomingMessage, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer exceeds ${ANSWER_BYTES_MAX} bytes`);
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new ServiceUnavailable(`${name} broke off its answer`, { cause });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
