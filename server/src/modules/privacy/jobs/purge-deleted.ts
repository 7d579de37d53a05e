import { defineJob } from '../../../platform/jobs/define-job.ts';
import { listClosedAccounts } from '../../accounts/steps.ts';
import { purgeUser } from '../purge-user.ts';

/** Purges deleted users. Runs on deletion, and every minute for data that had to wait. */
export const purgeDeletedJob = defineJob({
  name: 'privacy.purge-deleted',
  schedule: '* * * * *',
  run: async (services, _data: object, signal) => {
    for (const userId of await listClosedAccounts(services.db)) {
      if (signal.aborted) return;
      try {
        await purgeUser(services, userId);
      } catch (err) {
        services.log.error({ err, user_id: userId }, 'failed to purge a deleted user; the next run retries');
      }
    }
  },
});
