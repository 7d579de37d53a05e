import type {
  ApiKey,
  rotateApiKeyById as byId,
  changeApiKey as changeApiKeyEndpoint,
  createApiKey as createApiKeyEndpoint,
  listApiKeys as listApiKeysEndpoint,
  revokeApiKey as revokeApiKeyEndpoint,
} from '@bakehouse/contract/api-keys';
import type { InputOf, KeyScope, ResponseOf } from '@bakehouse/contract/endpoint';
import type { BudgetPeriod } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import {
  AppError,
  conflict,
  invalidApiKey,
  invalidParam,
  notFound,
  signInRequired,
} from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { lockUserAgainstDeletion } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { lockSessionAgainstEnd } from '../sessions/session-queries.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { decryptApiKey, hashApiKey, makeApiKey } from './api-key.ts';
import {
  type Budget,
  findEncryptedKey,
  insertKey,
  isKeyOpen,
  type KeyRow,
  listAllKeys,
  listKeys,
  lockKey,
  lockWebAppKey,
  revokeKeyRow,
  updateKey,
} from './key-queries.ts';
import { renewKey } from './renew-key.ts';

const KEYS_MAX = 100;

/**
 * Creates an additional API key of the caller. Only this response contains its secret. Throws AppError
 * 'conflict' above the maximum.
 */
export async function createApiKey(
  ctx: Context,
  { body }: Pick<InputOf<typeof createApiKeyEndpoint>, 'body'>,
): Promise<ResponseOf<typeof createApiKeyEndpoint>> {
  const { userId } = ctx.caller;
  const now = ctx.clock.now();
  const expiresAt = readExpiry(body.expires_at, now);
  const secret = makeApiKey();
  return inTransaction(ctx.db, async (tx) => {
    await findOwnWebAppKey(tx, ctx);
    if ((await listKeys(tx, userId)).length >= KEYS_MAX) {
      throw conflict(`You have ${KEYS_MAX} API keys. Revoke one before you create another`);
    }
    const budget = readBudget(body.budget);
    const { name, scopes } = body;
    const keyId = await insertKey(tx, {
      userId,
      sha256: hashApiKey(secret),
      at: now,
      name,
      scopes,
      expiresAt,
      budget,
    });
    await recordAudit(tx, { userId, action: 'api_key.created', detail: { key_id: keyId } });
    return { api_key: toApiKey(await findOwnKey(tx, ctx, keyId), now), secret };
  });
}

/** Lists the caller's API keys, oldest first; revoked keys only if requested. */
export async function listApiKeys(
  ctx: Context,
  { include_revoked: withRevoked }: InputOf<typeof listApiKeysEndpoint>['query'],
): Promise<ResponseOf<typeof listApiKeysEndpoint>> {
  const { userId } = ctx.caller;
  const keys = await (withRevoked ? listAllKeys(ctx.db, userId) : listKeys(ctx.db, userId));
  return { api_keys: keys.map((key) => toApiKey(key, ctx.clock.now())) };
}

/**
 * Returns the caller's web app key in clear text. Only a browser session, or a program that uses this key,
 * may read it. Throws AppError 'key_not_readable' if the key was encrypted with another server secret,
 * because the only other copy in the database is a hash.
 */
export async function getApiKey(ctx: Context): Promise<{ data: string }> {
  const { userId } = ctx.caller;
  const encrypted = await findEncryptedKey(ctx.db, userId);
  if (!encrypted) throw notFound('API key');
  try {
    return { data: decryptApiKey(encrypted, { userId, secret: serverSecret(ctx.config) }) };
  } catch (cause) {
    throw new AppError('key_not_readable', {
      publicMessage:
        "This server's secret has changed, so it can no longer show your API key. The key itself still works",
      cause,
    });
  }
}

/** Changes an API key's settings; null removes an expiry or a budget. Throws AppError 'conflict'. */
export async function changeApiKey(
  ctx: Context,
  { params, body }: InputOf<typeof changeApiKeyEndpoint>,
): Promise<ApiKey> {
  const { userId } = ctx.caller;
  const now = ctx.clock.now();
  const changed = await inTransaction(ctx.db, async (tx) => {
    const key = await findOwnKey(tx, ctx, params.keyId);
    assertNotWebAppKey(key, 'changed');
    await updateKey(tx, key.id, {
      name: body.name ?? key.name,
      scopes: body.scopes ?? (key.scopes as KeyScope[]),
      expiresAt: body.expires_at === undefined ? key.expires_at : readExpiry(body.expires_at, now),
      budget: body.budget === undefined ? budgetOf(key) : readBudget(body.budget),
    });
    await publishChange(tx, userId, { topic: 'api_key', id: key.id });
    await recordAudit(tx, { userId, action: 'api_key.changed', detail: { key_id: key.id } });
    return toApiKey(await findOwnKey(tx, ctx, key.id), now);
  });
  await ctx.rowChanges.catchUp();
  return changed;
}

function budgetOf({ budget_micro, budget_period }: KeyRow): Budget | null {
  if (budget_micro === null) return null;
  return { amountMicro: budget_micro, period: budget_period as BudgetPeriod };
}

/** Throws AppError 'conflict' for the web app's key, without which the web app would stop working. */
function assertNotWebAppKey(key: KeyRow, done: 'changed' | 'revoked'): void {
  if (!key.for_web_app) return;
  throw conflict(`The key of the web app cannot be ${done}. Rotate it, or create another key`);
}

/** Rotates the API key of the caller's web app; the old key is invalid from the commit on. */
export async function rotateApiKey(ctx: Context): Promise<{ data: string }> {
  const data = await inTransaction(ctx.db, async (tx) => {
    return rotate(tx, ctx, await findOwnWebAppKey(tx, ctx), false);
  });
  await ctx.rowChanges.catchUp();
  return { data };
}

/** Rotates any of the caller's keys; the old secret may stay valid for a day. */
export async function rotateApiKeyById(
  ctx: Context,
  { params, body }: InputOf<typeof byId>,
): Promise<ResponseOf<typeof byId>> {
  const rotated = await inTransaction(ctx.db, async (tx) => {
    await findOwnWebAppKey(tx, ctx);
    const secret = await rotate(tx, ctx, await findOwnKey(tx, ctx, params.keyId), body.keep_old);
    return { api_key: toApiKey(await findOwnKey(tx, ctx, params.keyId), ctx.clock.now()), secret };
  });
  await ctx.rowChanges.catchUp();
  return rotated;
}

async function rotate(tx: Transaction, ctx: Context, key: KeyRow, keepOld: boolean): Promise<string> {
  const secret = await renewKey(tx, key, {
    serverSecret: serverSecret(ctx.config),
    now: ctx.clock.now(),
    keepOld,
  });
  await recordAudit(tx, { userId: key.user_id, action: 'api_key.rotated', detail: { key_id: key.id } });
  return secret;
}

/** Revokes an API key and ends its open requests. Throws AppError 'conflict' for the web app's key. */
export async function revokeApiKey(
  ctx: Context,
  { params }: InputOf<typeof revokeApiKeyEndpoint>,
): Promise<void> {
  await inTransaction(ctx.db, async (tx) => {
    const key = await findOwnKey(tx, ctx, params.keyId);
    assertNotWebAppKey(key, 'revoked');
    await revokeKeys(tx, [key], ctx.clock.now());
    await recordAudit(tx, {
      userId: key.user_id,
      action: 'api_key.revoked',
      detail: { key_id: key.id },
    });
  });
  await ctx.rowChanges.catchUp();
}

/** Step: revokes API keys. They are invalid from the commit on, and their open requests end. */
export async function revokeKeys(
  tx: Transaction,
  keys: Pick<KeyRow, 'id' | 'user_id'>[],
  at: Date,
): Promise<void> {
  for (const { id, user_id: userId } of keys) {
    await revokeKeyRow(tx, id, at);
    await publishChange(tx, userId, { topic: 'api_key', id });
  }
}

/** Step: locks and returns the caller's API key with this id. Throws AppError 'not_found'. */
async function findOwnKey(tx: Transaction, ctx: Context, keyId: string): Promise<KeyRow> {
  const key = await lockKey(tx, { userId: ctx.caller.userId, keyId });
  if (!key) throw notFound('API key');
  return key;
}

/**
 * Step: locks the caller's web app key and returns it. The lock makes changes to the user's keys sequential.
 * Throws AppError 'unauthenticated' if the caller's session or key ended during the wait for the lock.
 */
async function findOwnWebAppKey(tx: Transaction, { caller, clock }: Context): Promise<KeyRow> {
  const { userId, key, session } = caller;
  // Lock in the order users, sessions, keys, like proofs of an address and deletions, to avoid deadlocks.
  await lockUserAgainstDeletion(tx, userId);
  if (session && !(await lockSessionAgainstEnd(tx, session.id))) {
    throw signInRequired();
  }
  const webAppKey = await lockWebAppKey(tx, userId);
  if (key && !(await isKeyOpen(tx, key, clock.now()))) {
    throw invalidApiKey();
  }
  if (!webAppKey) throw notFound('API key');
  return webAppKey;
}

/** Parses the expiry of a key. Throws AppError 'invalid_request' if it has passed. */
function readExpiry(text: string | null | undefined, now: Date): Date | null {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  if (expiresAt > now) return expiresAt;
  throw invalidParam('expires_at', 'expires_at must be in the future');
}

/** Parses the budget of a key. */
function readBudget(budget: { amount: bigint; period: BudgetPeriod } | null | undefined): Budget | null {
  return budget ? { amountMicro: budget.amount, period: budget.period } : null;
}

/** Returns a key in API format, without its secret. */
function toApiKey(key: KeyRow, now: Date): ApiKey {
  const isOldOpen = key.previous_until !== null && key.previous_until > now;
  const period = key.budget_period as BudgetPeriod | null;
  return {
    id: key.id,
    name: key.name,
    scopes: key.scopes as KeyScope[],
    for_web_app: key.for_web_app,
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    expires_at: key.expires_at?.toISOString() ?? null,
    old_key_opens_until: isOldOpen ? (key.previous_until?.toISOString() ?? null) : null,
    revoked_at: key.revoked_at?.toISOString() ?? null,
    budget:
      key.budget_micro === null || period === null
        ? null
        : {
            amount: formatBgl(key.budget_micro),
            period,
            spent: formatBgl(key.spent_micro),
            held: formatBgl(key.held_micro),
            renews_at: key.renews_at?.toISOString() ?? null,
          },
  };
}
