import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { endOtherSessions as endpoint } from '@bakehouse/contract/profile';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../record-audit.ts';
import { deleteSessions } from './session-queries.ts';

/** Signs the caller out of all browsers except this one. */
export async function endOtherSessions({ db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  const { userId, session } = caller;
  return inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, userId, { except: session?.id });
    await recordAudit(tx, { userId, action: 'session.others_ended', detail: { ended: String(ended) } });
    await publishChange(tx, userId, { topic: 'user', id: userId });
    return { ended };
  });
}
