import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteAllConversations } from '../conversations/conversation-queries.ts';
import { deleteChatRequestsBefore } from '../gateway-queries.ts';
import { deleteResponsesBefore } from '../responses/response-queries.ts';

const KEPT_DAYS = 30;

/**
 * Deletes recorded requests after 30 days. Only charts use them: deployments store totals, and the ledger
 * stores charges. Also deletes expired responses, and all conversations if this server is set to save none.
 */
export const pruneChatDataJob = defineJob({
  name: 'deployments.forget-requests',
  schedule: '17 3 * * *',
  run: async ({ db, clock, config }) => {
    const daysAgo = (days: number) => new Date(clock.now().getTime() - days * 24 * 3_600_000);
    await deleteChatRequestsBefore(db, daysAgo(KEPT_DAYS));
    await deleteResponsesBefore(db, daysAgo(config.responseDays));
    if (!config.keepConversations) await deleteAllConversations(db);
  },
});
