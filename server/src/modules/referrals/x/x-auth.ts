import { createHash, randomBytes } from 'node:crypto';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  finishXAuth as finishXAuthEndpoint,
  getXAuthStatus as getXAuthStatusEndpoint,
  startXAuth as startXAuthEndpoint,
} from '@bakehouse/contract/referrals';
import type { Context, Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { type AppError, conflict, invalidParam } from '../../../platform/errors.ts';
import { decrypt } from '../../../platform/secrets/encryption.ts';
import { isSameSecret, signatureOf } from '../../../platform/signature.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { toTokenColumns } from './to-token-columns.ts';
import { XUnauthorized, xClient } from './x-client.ts';
import { deleteXAccount, findXAccount, saveXAccount } from './x-queries.ts';

/** How long the user may stay on X's consent page. */
const VALID_SECONDS = 15 * 60;

const PAGE = 'https://x.com/i/oauth2/authorize';

/** Scopes to post, to read the username, and to refresh tokens, which expire after two hours. */
const SCOPES = 'tweet.read tweet.write users.read offline.access';

/** Returns the X authorization URL (OAuth 2.0 with PKCE). */
export function startXAuth({ config, clock, caller }: Context): ResponseOf<typeof startXAuthEndpoint> {
  const { clientId, redirectUri, secret } = requireX({ config, clock });
  const state = makeXState({ userId: caller.userId, secret, now: clock.now() });
  const page = new URL(PAGE);
  page.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: SCOPES,
    state,
    code_challenge: pkceOf(state, secret).challenge,
    code_challenge_method: 'S256',
  }).toString();
  return { url: page.href };
}

/** Connects the X account after X redirected the caller back. */
export async function finishXAuth(
  { config, clock, caller: { userId }, db }: Context,
  { body: { code, state } }: InputOf<typeof finishXAuthEndpoint>,
): Promise<ResponseOf<typeof finishXAuthEndpoint>> {
  const { client, redirectUri, secret, encryptionOf } = requireX({ config, clock });
  if (!isXState(state, { userId, secret, now: clock.now() })) throw staleConnection();
  try {
    const tokens = await client.exchangeCode(code, { verifier: pkceOf(state, secret).verifier, redirectUri });
    const { id, username } = await client.findAccount(tokens.accessToken);
    const now = clock.now();
    await inTransaction(db, async (tx) => {
      await saveXAccount(tx, {
        user_id: userId,
        x_user_id: id,
        username,
        ...toTokenColumns(tokens, encryptionOf(userId), now),
        connected_at: now,
      });
      await recordAudit(tx, { userId, action: 'x_account.connected', detail: { username } });
    });
    return { status: 'connected', username };
  } catch (error) {
    throw error instanceof XUnauthorized ? staleConnection(error) : error;
  }
}

function staleConnection(cause?: unknown): AppError {
  const publicMessage = 'This X sign-in has expired or was started elsewhere. Connect your account again';
  return invalidParam('state', publicMessage, cause);
}

/** Returns whether the caller's X account is connected, and its username. */
export async function getXAuthStatus({
  config,
  db,
  caller,
}: Context): Promise<ResponseOf<typeof getXAuthStatusEndpoint>> {
  if (!config.x) return { status: 'not_configured', username: null };
  const account = await findXAccount(db, caller.userId);
  return account
    ? { status: 'connected', username: account.username }
    : { status: 'not_connected', username: null };
}

/** Returns the X client and its settings. Throws AppError 'conflict' if no X application is configured. */
export function requireX({ config, clock }: Pick<Services, 'config' | 'clock'>) {
  if (!config.x) {
    throw conflict('Posting on X is not configured on this server. Share your invitation link yourself');
  }
  const secret = serverSecret(config);
  return {
    client: xClient(config.x, clock),
    clientId: config.x.clientId,
    secret,
    /** The address to which X redirects after the consent. The X application must have the same one. */
    redirectUri: `${config.publicUrl}/invite`,
    /** Returns how to encrypt a user's tokens. */
    encryptionOf: (userId: string) => ({ userId, secret, purpose: 'bakehouse x tokens' }),
  };
}

type Owner = { userId: string; secret: string; now: Date };

/**
 * Returns an OAuth state: a nonce and the time, signed for the user. The signature makes storing it
 * unnecessary, and another user's state is refused.
 */
function makeXState({ userId, secret, now }: Owner): string {
  const seconds = `${Math.floor(now.getTime() / 1000)}`;
  const nonce = randomBytes(16).toString('base64url');
  return `${seconds}.${nonce}.${signatureOf(secret, 'x state', [userId, seconds, nonce])}`;
}

/** True if this server created the state for this user recently. */
function isXState(state: string, { userId, secret, now }: Owner): boolean {
  const [seconds = '', nonce = '', signature = ''] = state.split('.');
  if (!isSameSecret(signatureOf(secret, 'x state', [userId, seconds, nonce]), signature)) return false;
  const age = now.getTime() / 1000 - Number(seconds);
  return age < VALID_SECONDS;
}

/**
 * Returns the PKCE verifier and its challenge. The verifier is derived from the state and the server's
 * secret, so it is not stored.
 */
function pkceOf(state: string, secret: string): { verifier: string; challenge: string } {
  const verifier = signatureOf(secret, 'x verifier', [state]);
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/**
 * Deletes the caller's X account, then tries to revoke its tokens at X. With `isDeletion`, the audit log gets
 * no account name, because its rows cannot be deleted.
 */
export async function endXAuth(ctx: Context, { isDeletion = false } = {}): Promise<void> {
  const { config, clock, db, log } = ctx;
  const { userId } = ctx.caller;
  const { client, encryptionOf } = requireX({ config, clock });
  const account = await findXAccount(db, userId);
  if (!account) return;
  await inTransaction(db, async (tx) => {
    if (await deleteXAccount(tx, userId)) {
      await recordAudit(tx, {
        userId,
        action: 'x_account.disconnected',
        detail: isDeletion ? {} : { username: account.username },
      });
    }
  });
  try {
    await client.revoke(decrypt(account.refresh_token, encryptionOf(userId)));
  } catch (error) {
    log.warn({ err: error, user_id: userId }, 'failed to revoke a token at X');
  }
}
