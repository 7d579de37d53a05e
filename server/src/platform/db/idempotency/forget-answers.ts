import { defineJob } from '../../jobs/define-job.ts';
import { deleteBefore } from '../retention/delete-before.ts';

/** How long a call that spends can be repeated safely. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Deletes the stored answers that nobody will ask for again. */
export const forgetAnswersJob = defineJob({
  name: 'platform.forget-answers',
  schedule: '17 3 * * *',
  run: async ({ db, clock }) => {
    const time = new Date(clock.now().getTime() - KEPT_MS);
    await deleteBefore(db, 'idempotency_keys', { column: 'created_at', time });
  },
});
