import type { ApiKey } from '@bakehouse/contract/api-keys';
import type { KeyScope } from '@bakehouse/contract/endpoint';
import type { BudgetPeriod } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { KeyRow } from './key-queries.ts';

/** Returns a key in API format, without its secret. */
export function toApiKey(key: KeyRow, now: Date): ApiKey {
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
