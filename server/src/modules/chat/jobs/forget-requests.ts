import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteAllConversations } from '../conversations/conversation-queries.ts';
import { deleteChatRequestsBefore } from '../gateway-queries.ts';

const KEPT_DAYS = 30;

/**
 * Single requests serve the charts; their sums stay with the deployment, their charges with the ledger. Conversations go where
 * the operator keeps none.
 */
export const forgetRequestsJob = defineJob({
  name: 'deployments.forget-requests',
  schedule: '17 3 * * *',
  run: async ({ db, clock, config }) => {
    await deleteChatRequestsBefore(db, new Date(clock.now().getTime() - KEPT_DAYS * 24 * 3_600_000));
    if (!config.keepConversations) await deleteAllConversations(db);
  },
});
