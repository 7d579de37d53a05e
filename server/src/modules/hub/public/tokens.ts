import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getHubToken } from '@bakehouse/contract/hub/public';
import type { Context, Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, invalidParam } from '../../../platform/errors.ts';
import { decrypt, type Encryption, encrypt } from '../../../platform/secrets/encryption.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { serverSecret } from '../../accounts/sign-in/server-secret.ts';
import { hubClient } from './hub-client.ts';
import type { HubAccess } from './request-hub.ts';
import { deleteToken, findToken, upsertToken } from './token-queries.ts';

type Shown = ResponseOf<typeof getHubToken>;

/** Returns the user's access to the public hub, with their token if one is stored and can be decrypted. */
export async function findHubAccess(
  { config, db, log }: Pick<Services, 'config' | 'db' | 'log'>,
  userId: string,
): Promise<HubAccess> {
  const kept = await findToken(db, userId);
  if (!kept) return { url: config.hubUrl, token: null };
  try {
    return { url: config.hubUrl, token: decrypt(kept.encrypted, encryptionOf(userId, config)) };
  } catch (error) {
    log.warn({ err: error, user_id: userId }, 'failed to decrypt hub token: encrypted with another secret');
    return { url: config.hubUrl, token: null };
  }
}

/** Returns whether a token is stored, and its account on the hub. */
export async function showToken({ db, caller }: Context): Promise<Shown> {
  const kept = await findToken(db, caller.userId);
  return { token: kept ? { account: kept.account, saved_at: kept.saved_at.toISOString() } : null };
}

export async function deleteSavedToken(ctx: Context): Promise<Shown> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    if (await deleteToken(tx, userId)) await recordAudit(tx, { userId, action: 'hub_token.deleted' });
  });
  return showToken(ctx);
}

function encryptionOf(userId: string, config: Services['config']): Encryption {
  return { userId, purpose: 'hub token', secret: serverSecret(config) };
}

/**
 * Stores a token after the hub has confirmed its account. Throws AppError 'invalid_request' for an unknown
 * token.
 */
export async function saveToken(ctx: Context, token: string, signal: AbortSignal): Promise<Shown> {
  const { userId } = ctx.caller;
  const account = await findAccount(ctx, token, signal);
  await inTransaction(ctx.db, async (tx) => {
    const encrypted = encrypt(token, encryptionOf(userId, ctx.config));
    await upsertToken(tx, { user_id: userId, encrypted, account, saved_at: ctx.clock.now() });
    await recordAudit(tx, { userId, action: 'hub_token.saved', detail: { account } });
  });
  return showToken(ctx);
}

async function findAccount({ config }: Context, token: string, signal: AbortSignal): Promise<string> {
  try {
    return await hubClient({ url: config.hubUrl, token }, signal).whoAmI();
  } catch (error) {
    if (!(error instanceof AppError && error.status < 500)) throw error;
    throw invalidParam('token', 'The public hub does not know this token', error);
  }
}
