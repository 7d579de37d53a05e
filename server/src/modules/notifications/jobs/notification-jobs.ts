import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { listExpiringKeys } from '../../accounts/steps.ts';
import { notify } from '../notifications.ts';
import { deleteNotificationsBefore, listUnnotifiedExpiries } from '../queries.ts';

const KEPT_DAYS = 90;

/** Deletes notifications after 90 days, read or not. */
export const deleteOldNotificationsJob = defineJob({
  name: 'notifications.forget',
  schedule: '29 3 * * *',
  run: ({ db, clock }) =>
    deleteNotificationsBefore(db, new Date(clock.now().getTime() - KEPT_DAYS * 24 * 3_600_000)),
});

const AHEAD_DAYS = 7;

/** Notifies users a week before their API keys expire, once per expiry date. */
export const notifyKeyExpiryJob = defineJob({
  name: 'notifications.warn-of-expiry',
  schedule: '13 * * * *',
  run: async ({ db, clock }) => {
    const now = clock.now();
    const until = new Date(now.getTime() + AHEAD_DAYS * 24 * 3_600_000);
    await inTransaction(db, async (tx) => {
      const ending = await listExpiringKeys(tx, { now, until });
      const unnotified = await listUnnotifiedExpiries(tx, ending);
      await notify(
        tx,
        ...ending
          .filter(({ keyId }) => unnotified.has(keyId))
          .map(({ userId, keyId, name, expiresAt }) => ({
            userId,
            kind: 'api_key_expiring' as const,
            data: { key_id: keyId, name, expires_at: expiresAt.toISOString() },
          })),
      );
    });
  },
});
