import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { listSessions as endpoint } from '@bakehouse/contract/profile';
import type { Context } from '../../../platform/context.ts';
import { listUserSessions } from './session-queries.ts';

/** Lists the caller's sessions. */
export async function listSessions({ db, clock, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  const rows = await listUserSessions(db, caller.userId, clock.now());
  return {
    sessions: rows.map((row) => ({
      id: row.id,
      is_current: row.id === caller.session?.id,
      user_agent: row.user_agent ?? '',
      address: row.ip_address ?? '',
      created_at: row.created_at.toISOString(),
      last_seen_at: row.updated_at.toISOString(),
    })),
  };
}
