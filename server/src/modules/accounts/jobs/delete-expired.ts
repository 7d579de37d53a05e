import type { Services } from '../../../platform/context.ts';
import { deleteRateCounts } from '../../../platform/http/callers/shared-counts.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteExpiredSessions } from '../sessions/session-queries.ts';
import { deleteExpiredVerifications } from '../sign-in/sign-in-queries.ts';

/** Deletes expired rows once a day; until then they are ignored. */
export const deleteExpiredJob = defineJob({
  name: 'accounts.delete-expired',
  schedule: '41 3 * * *',
  run: async ({ db, clock }: Services) => {
    await deleteExpiredSessions(db, clock.now());
    await deleteExpiredVerifications(db, clock.now());
    await deleteRateCounts(db, clock.now());
  },
});
