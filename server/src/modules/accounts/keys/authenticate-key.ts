import { sql } from 'kysely';
import { rowCache } from '../../../platform/cache/row-cache.ts';
import { batch } from '../../../platform/concurrency/batch.ts';
import type { Services, UserCaller } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { isOperator } from '../operators.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import { findKeyOwners, type KeyOwner, setKeyLastUsed } from './key-queries.ts';

/** Users see 'last used' in minutes, so calls within the same minute need no further write. */
const LAST_USED_PRECISION_MS = 60_000;

/** Maximum keys per query. */
const KEYS_MAX = 100;

/** Maximum keys of open streams per query. All open streams are checked together. */
const LOOKS_MAX = 1_000;

/** Maximum cached key owners. */
const KEPT_MAX = 20_000;

/**
 * Returns the function that authenticates an API key: it returns the key's owner, or null for an unknown key.
 */
export function authenticateKey(services: Services): (key: string) => Promise<UserCaller | null> {
  const findAll = (hashes: Buffer[]) => findKeyOwners(services, hashes);
  const findKeyOwner = batch(findAll, { max: KEYS_MAX });
  // A separate batch, so that callers do not wait for the check of all open streams.
  const lookUpOwner = batch(findAll, { max: LOOKS_MAX });
  const recallOwner = rowCache<KeyOwner>(services.rowChanges, {
    max: KEPT_MAX,
    concerns: (owner, { of, id }) =>
      (of === 'api_key' && id === owner.key_id) || (of === 'user' && id === owner.user_id),
  });
  return async (key) => {
    if (!isApiKey(key)) return null;
    const hash = hashApiKey(key);
    const changeCount = services.rowChanges.count();
    const owner = await recallOwner(hash.toString('hex'), () => findKeyOwner(hash));
    if (!owner || isOver(owner, services.clock.now())) return null;
    recordKeyUse(services, owner);
    const { user_id: userId, email, email_verified: emailVerified } = owner;
    return {
      kind: 'user',
      userId,
      isOperator: isOperator(services.config, { email, emailVerified }),
      key: {
        id: owner.key_id,
        sha256: hash,
        changeCount,
        forWebApp: owner.for_web_app,
        scopes: owner.scopes,
        hasBudget: owner.has_budget,
        expiresAt: owner.expires_at,
        look: async () => {
          const now = await lookUpOwner(hash);
          return now ? { scopes: now.scopes, expiresAt: now.expires_at } : null;
        },
      },
    };
  };
}

/** A cached owner may have expired since it was read. */
function isOver({ expires_at: expiresAt }: KeyOwner, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function recordKeyUse(services: Services, owner: KeyOwner): void {
  const now = services.clock.now();
  if (owner.last_used_at && now.getTime() - owner.last_used_at.getTime() < LAST_USED_PRECISION_MS) return;
  owner.last_used_at = now;
  setKeyLastUsed(services.db, owner.key_id, now).catch((error: unknown) => {
    services.log.warn({ err: error, key_id: owner.key_id }, 'failed to record the use of an API key');
  });
}

/** Returns true if an API key may still run models. */
export async function canKeyRunModels(db: Database, keyId: string, now: Date): Promise<boolean> {
  const { rows } = await sql`
    select from api_keys
    where id = ${keyId} and revoked_at is null and (expires_at is null or expires_at > ${now}) and scopes && '{everything,inference}'`.execute(
    db,
  );
  return rows.length > 0;
}
