import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteGenerationsBefore } from '../../generations/end-generation.ts';
import { deleteUserNotifications } from '../../notifications/notifications.ts';
import { VISITORS } from '../visitor-questions.ts';

const KEPT_MS = 60 * 60 * 1000;

/** Deletes unclaimed visitor pictures after an hour. */
export const deleteVisitorPicturesJob = defineJob({
  name: 'visitors.forget',
  schedule: '*/5 * * * *',
  run: async (services) => {
    const before = new Date(services.clock.now().getTime() - KEPT_MS);
    const caller = { kind: 'user', userId: VISITORS, isOperator: false } as const;
    await deleteGenerationsBefore({ ...services, caller }, before);
    await inTransaction(services.db, (tx) => deleteUserNotifications(tx, VISITORS));
  },
});
