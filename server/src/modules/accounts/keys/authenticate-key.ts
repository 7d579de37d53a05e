import type { Services, UserCaller } from '../../../platform/context.ts';
import { gather } from '../../../platform/gather.ts';
import { isOperator } from '../is-operator.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import { findKeyOwners, type KeyOwner, setKeyLastUsed } from './key-queries.ts';

/** 'Last used' is shown to people: a minute is exact enough, and it keeps writes off the way of each call. */
const LAST_USED_PRECISION_MS = 60_000;

/** Keys that are looked up in one query at most. */
const KEYS_MAX = 100;

/** Makes the check of API keys: their owner, or null when the key is nobody's. */
export function authenticateKey(services: Services): (key: string) => Promise<UserCaller | null> {
  const findKeyOwner = gather((hashes: Buffer[]) => findKeyOwners(services, hashes), { max: KEYS_MAX });
  return async (key) => {
    if (!isApiKey(key)) return null;
    const hash = hashApiKey(key);
    const owner = await findKeyOwner(hash);
    if (!owner) return null;
    noteUse(services, owner);
    const { user_id: userId, email, email_verified: emailVerified } = owner;
    return {
      kind: 'user',
      userId,
      isOperator: isOperator(services.config, { email, emailVerified }),
      key: {
        id: owner.key_id,
        forWebApp: owner.for_web_app,
        scopes: owner.scopes,
        hasBudget: owner.has_budget,
        expiresAt: owner.expires_at,
        look: async () => {
          const now = await findKeyOwner(hash);
          return now ? { scopes: now.scopes, expiresAt: now.expires_at } : null;
        },
      },
    };
  };
}

function noteUse(services: Services, owner: KeyOwner): void {
  const now = services.clock.now();
  if (owner.last_used_at && now.getTime() - owner.last_used_at.getTime() < LAST_USED_PRECISION_MS) return;
  setKeyLastUsed(services.db, owner.key_id, now).catch((error: unknown) => {
    services.log.warn({ err: error, key_id: owner.key_id }, 'could not note the use of a key');
  });
}
