import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { HUB_UNREACHABLE } from '@bakehouse/contract/hub/public';
import { type AppError, unavailable } from '../../../platform/errors.ts';
import { isPublicAddress } from '../../../platform/http/addresses/is-public-address.ts';
import { requestAllowedAddress } from '../../../platform/http/addresses/request-allowed-address.ts';

/** URL of the public hub, and the user's token for it. */
export type HubAccess = { url: string; token: string | null };

const REDIRECTS_MAX = 5;
/** Keep connections open, because a clone fetches many files from the same few hosts. */
const agents = {
  'http:': new HttpAgent({ keepAlive: true }),
  'https:': new HttpsAgent({ keepAlive: true }),
};

/**
 * Sends a GET request to the public hub and follows redirects. The configured hub host may be internal; a
 * redirect to another host must lead to a public address. Only the hub itself receives the token. Throws
 * AppError 'unavailable' if there is no response, and the signal's reason.
 */
export async function requestHub(
  { url: hubUrl, token }: HubAccess,
  start: URL,
  {
    headers = {},
    signal,
    keepsConnection = false,
  }: {
    headers?: Record<string, string>;
    signal: AbortSignal;
    keepsConnection?: boolean;
  },
): Promise<IncomingMessage> {
  const hub = new URL(hubUrl);
  let url = start;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const isHub = url.hostname === hub.hostname;
    const answer = await requestAllowedAddress(url, {
      isAllowed: isHub ? () => true : isPublicAddress,
      headers: {
        ...headers,
        ...(token && url.origin === hub.origin && { authorization: `Bearer ${token}` }),
      },
      agent: keepsConnection ? agents[url.protocol as keyof typeof agents] : undefined,
      signal,
    }).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw unreachable(cause);
    });
    const { statusCode = 0, headers: answered } = answer;
    const isRedirect = statusCode >= 300 && statusCode < 400 && answered.location !== undefined;
    if (!isRedirect) return answer;
    answer.destroy();
    if (!URL.canParse(answered.location ?? '', url.href))
      throw unreachable(new Error('redirect without a location'));
    url = new URL(answered.location ?? '', url);
  }
  throw unreachable(new Error(`more than ${REDIRECTS_MAX} redirects`));
}

export function unreachable(cause: unknown): AppError {
  return unavailable(HUB_UNREACHABLE, { cause });
}
