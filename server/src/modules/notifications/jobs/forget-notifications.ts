import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteNotificationsBefore } from '../queries.ts';

const KEPT_DAYS = 90;

/** Deletes notifications after 90 days, read or not. */
export const forgetNotificationsJob = defineJob({
  name: 'notifications.forget',
  schedule: '29 3 * * *',
  run: ({ db, clock }) =>
    deleteNotificationsBefore(db, new Date(clock.now().getTime() - KEPT_DAYS * 24 * 3_600_000)),
});
