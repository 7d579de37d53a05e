import type { Services, UserCaller } from '../../platform/context.ts';
import { gather } from '../../platform/gather.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import { isOperator } from './is-operator.ts';
import { findKeyOwners, setKeyLastUsed } from './queries.ts';

/** 'Last used' is shown to people: a minute is exact enough, and it keeps writes off the way of each call. */
const LAST_USED_PRECISION_MS = 60_000;

/** Keys that are looked up in one query at most. */
const KEYS_MAX = 100;

/** Makes the check of API keys: their owner, or null when the key is nobody's. */
export function authenticateKey(services: Services): (key: string) => Promise<UserCaller | null> {
  const findKeyOwner = gather((hashes: Buffer[]) => findKeyOwners(services, hashes), { max: KEYS_MAX });
  return async (key) => {
    if (!isApiKey(key)) return null;
    const owner = await findKeyOwner(hashApiKey(key));
    if (!owner) return null;
    noteUse(services, owner);
    const { user_id: userId, email, email_verified: emailVerified } = owner;
    return { kind: 'user', userId, isOperator: isOperator(services.config, { email, emailVerified }) };
  };
}

function noteUse(services: Services, owner: { user_id: string; last_used_at: Date | null }): void {
  const now = services.clock.now();
  if (owner.last_used_at && now.getTime() - owner.last_used_at.getTime() < LAST_USED_PRECISION_MS) return;
  setKeyLastUsed(services.db, owner.user_id, now).catch((error: unknown) => {
    services.log.warn({ err: error, user_id: owner.user_id }, 'could not note the use of a key');
  });
}
