import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteAllConversations } from '../conversations/conversation-queries.ts';
import { deleteChatRequestsBefore } from '../gateway-queries.ts';
import { deleteResponsesBefore } from '../responses/response-queries.ts';

const KEPT_DAYS = 30;

/**
 * Single requests serve the charts; their sums stay with the deployment, their charges with the ledger. Conversations go where
 * the operator keeps none, responses when their time is over.
 */
export const forgetRequestsJob = defineJob({
  name: 'deployments.forget-requests',
  schedule: '17 3 * * *',
  run: async ({ db, clock, config }) => {
    const daysAgo = (days: number) => new Date(clock.now().getTime() - days * 24 * 3_600_000);
    await deleteChatRequestsBefore(db, daysAgo(KEPT_DAYS));
    await deleteResponsesBefore(db, daysAgo(config.responseDays));
    if (!config.keepConversations) await deleteAllConversations(db);
  },
});
