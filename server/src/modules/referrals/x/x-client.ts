import * as z from 'zod';
import type { Config } from '../../../config.ts';
import type { Clock } from '../../../platform/clock.ts';
import { AppError, conflict, internalError, tooMany } from '../../../platform/errors.ts';

/** Timeout of a call to X, for which a user waits. */
const TIMEOUT_MS = 10_000;

export type XTokens = { accessToken: string; refreshToken: string; expiresInSeconds: number };

/** X does not accept the token or the code. The user has to connect the account again. */
export class XUnauthorized extends Error {}

/** X did not answer or had an internal error, so the call may have succeeded. */
export class XUnavailable extends AppError {
  constructor(cause: unknown) {
    super('unavailable', { publicMessage: 'X did not answer. Please try again', cause });
  }
}

const tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
});
const account = z.object({ data: z.object({ id: z.string(), username: z.string() }) });
const post = z.object({ data: z.object({ id: z.string().regex(/^[0-9]+$/) }) });
const problem = z.object({ detail: z.string().optional(), error_description: z.string().optional() });

/** Creates a client of X's API, version 2. Each call throws `XUnauthorized` or an AppError. */
export function xClient({ clientId, clientSecret, url }: NonNullable<Config['x']>, clock: Clock) {
  const basic = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64')}`;
  const call = (address: URL, init: RequestInit) => requestX(address, init, clock);
  const form = (path: string, fields: Record<string, string>) =>
    call(new URL(path, url), {
      method: 'POST',
      headers: { authorization: basic },
      body: new URLSearchParams(fields),
    });
  const toTokens = async (answer: Promise<unknown>): Promise<XTokens> => {
    const { access_token, refresh_token, expires_in } = parse(tokens, await answer);
    return { accessToken: access_token, refreshToken: refresh_token, expiresInSeconds: expires_in };
  };
  return {
    exchangeCode: (code: string, { verifier, redirectUri }: { verifier: string; redirectUri: string }) =>
      toTokens(
        form('/2/oauth2/token', {
          grant_type: 'authorization_code',
          code,
          code_verifier: verifier,
          redirect_uri: redirectUri,
        }),
      ),

    /** Consumes the refresh token. */
    refresh: (refreshToken: string) =>
      toTokens(form('/2/oauth2/token', { grant_type: 'refresh_token', refresh_token: refreshToken })),

    revoke: (token: string) => form('/2/oauth2/revoke', { token, token_type_hint: 'refresh_token' }),

    async findAccount(accessToken: string): Promise<{ id: string; username: string }> {
      const headers = { authorization: `Bearer ${accessToken}` };
      return parse(account, await call(new URL('/2/users/me', url), { headers })).data;
    },

    async createPost(
      accessToken: string,
      {
        text,
        replyTo,
        quoteId,
      }: { text: string; replyTo?: string | undefined; quoteId?: string | undefined },
    ): Promise<string> {
      const answer = await call(new URL('/2/tweets', url), {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          text,
          ...(replyTo && { reply: { in_reply_to_tweet_id: replyTo } }),
          ...(quoteId && { quote_tweet_id: quoteId }),
        }),
      });
      return parse(post, answer).data.id;
    },
  };
}

async function requestX(url: URL, init: RequestInit, clock: Clock): Promise<unknown> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    body = await response.json().catch(() => null);
  } catch (error) {
    throw new XUnavailable(error);
  }
  if (response.ok) return body;
  throw refusal(url, response, body, clock.now());
}

/** Converts a refusal of X to an error for the caller. */
function refusal(url: URL, { status, headers }: Response, body: unknown, now: Date): Error {
  const { data } = problem.safeParse(body);
  const detail = data?.detail ?? data?.error_description ?? '';
  const cause = new Error(`X answered ${url.pathname} with ${status}: ${detail}`);
  if (status >= 500) return new XUnavailable(cause);
  const isPost = url.pathname === '/2/tweets';
  if (status === 429) {
    const publicMessage = `X takes no more ${isPost ? 'posts' : 'requests'} for now. ${whenAgain(headers, now)}`;
    return tooMany(publicMessage, { cause });
  }
  // An invalid code or refresh token has status 400. Status 401 means invalid client credentials, which only
  // the operator can fix.
  const isToken = url.pathname === '/2/oauth2/token';
  if (isToken ? status === 400 : status === 401) return new XUnauthorized(detail, { cause });
  if (isToken) {
    const publicMessage = 'X refused this server. Contact its operator';
    return internalError(publicMessage, { cause });
  }
  const publicMessage = `X refused ${isPost ? 'the post' : 'this'}${detail && `: ${detail}`}`;
  return conflict(publicMessage, { cause });
}

function whenAgain(headers: Headers, now: Date): string {
  const reset = Number(headers.get('x-rate-limit-reset')) * 1000 - now.getTime();
  const minutes = Math.ceil(reset / 60_000);
  return minutes > 0 ? `Try again in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}` : 'Try again later';
}

function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw new XUnavailable(parsed.error);
  return parsed.data;
}
