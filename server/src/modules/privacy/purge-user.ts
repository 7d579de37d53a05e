import { forgetWork } from '../../engine/files/forget-work.ts';
import type { Context, Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { forgetUserAnswers } from '../../platform/db/idempotency/forget-answers.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { forgetUploads } from '../../platform/storage/uploads/uploads.ts';
import { forgetAccount, listClosedAccounts, markPurged } from '../accounts/steps.ts';
import { listOwnAssets } from '../assets/own/own-assets.ts';
import { deleteAsset } from '../assets/remove-asset.ts';
import { forgetRequests } from '../assets/restricted/access-requests.ts';
import { forgetShares } from '../assets/sharing/shares.ts';
import { forgetBatches } from '../batches/batches.ts';
import { forgetConversations } from '../chat/conversations/conversations.ts';
import { forgetResponses } from '../chat/responses/responses.ts';
import { forgetMessages } from '../contact/messages.ts';
import { giveUpCredits } from '../credits/ledger/given-credits.ts';
import { writeOffDebt } from '../credits/ledger/write-off-debt.ts';
import { forgetBilling } from '../credits/steps.ts';
import { endDeployment, endDeploymentsOf } from '../deployments/end-deployment.ts';
import { findAssetUse as findDeploymentUse } from '../deployments/find-asset-use.ts';
import { listLivePodIds } from '../deployments/kinds/list-live-pod-ids.ts';
import { forgetDrafts } from '../drafts/drafts.ts';
import { forgetGenerations } from '../generations/end-generation.ts';
import { forgetHub } from '../hub/forget-hub.ts';
import { forgetXorbs } from '../hub/xet/xorbs.ts';
import { forgetAcceptances } from '../licences/licences.ts';
import { forgetNotifications } from '../notifications/notifications.ts';
import { forgetCode } from '../referrals/referrals.ts';
import { endXAuth } from '../referrals/x/x-auth.ts';
import { deleteShareLinks } from '../share-links/share-links.ts';
import { deleteUserTrackers } from '../tracking/trackers.ts';
import { forgetConfigurations } from '../training/configurations/configurations.ts';
import { findAssetUse as findTrainingUse } from '../training/find-asset-use.ts';
import { forgetHeldOutAnswers } from '../training/held-out/held-out-answers.ts';
import { forgetJobs } from '../training/openai-jobs/jobs.ts';
import { forgetSamples } from '../training/pictures/samples.ts';
import { cancelRun, listLiveRuns } from '../training/runs/runs.ts';

const REASON = 'The account was deleted';

/** Shown to other users who deployed the model. */
const OWNER_GONE = 'The owner of the model deleted their account';

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

/**
 * Purges a deleted user: first records, then running work, assets and credits. Ends other users' deployments
 * of their models. Assets in use by others' runs, and runs that are still saving, remain until the next call.
 * Returns true if nothing is left.
 */
export async function purgeUser(services: Services, userId: string): Promise<boolean> {
  const ctx: Context = {
    ...services,
    caller: { kind: 'user', userId, isOperator: false },
    requestId: `purge-${userId}`,
    idempotencyKey: null,
  };
  if (ctx.config.x) await endXAuth(ctx, { isDeletion: true });
  await inTransaction(ctx.db, (tx) => forgetRecords(tx, userId));
  for (const runId of await listLiveRuns(ctx.db, userId))
    await cancelRun(ctx, { params: { runId }, query: undefined, body: undefined });
  for (const podId of await listLivePodIds(ctx.db, userId))
    await endDeployment(ctx, podId, { reason: REASON, endedBy: userId });
  await forgetGenerations(ctx);
  const { heldMicro } = await inTransaction(ctx.db, (tx) => giveUpCredits(tx, userId));
  const kept = await deleteAssets(ctx);
  const running = await listLiveRuns(ctx.db, userId);
  if (heldMicro > 0n || kept > 0 || running.length > 0) return false;
  await inTransaction(ctx.db, async (tx) => {
    // Again, because work that ended in the meantime may have created notifications.
    await forgetRecords(tx, userId);
    await writeOffDebt(tx, userId);
    await markPurged(tx, { userId, now: ctx.clock.now() });
  });
  return true;
}

/** Deletes records that nothing else refers to. Idempotent. */
async function forgetRecords(tx: Transaction, userId: string): Promise<void> {
  await forgetWork(tx, userId);
  await forgetConfigurations(tx, userId);
  await forgetHeldOutAnswers(tx, userId);
  await forgetJobs(tx, userId);
  await forgetBatches(tx, userId);
  await forgetDrafts(tx, userId);
  await forgetSamples(tx, userId);
  await forgetNotifications(tx, userId);
  await forgetCode(tx, userId);
  await forgetMessages(tx, userId);
  await forgetConversations(tx, userId);
  await forgetResponses(tx, userId);
  await forgetRequests(tx, userId);
  await forgetShares(tx, userId);
  await deleteShareLinks(tx, userId);
  await deleteUserTrackers(tx, userId);
  await forgetHub(tx, userId);
  await forgetUploads(tx, userId);
  await forgetAcceptances(tx, userId);
  await forgetXorbs(tx, userId);
  await forgetBilling(tx, userId);
  await forgetUserAnswers(tx, userId);
  await forgetAccount(tx, userId);
}

/** Deletes the user's assets. Returns how many are still in use. */
async function deleteAssets(ctx: Context): Promise<number> {
  let kept = 0;
  for await (const id of listOwnAssets(ctx.db, ctx.caller.userId)) {
    try {
      await endDeploymentsOf(ctx, { assetId: id, reason: OWNER_GONE });
      await deleteAsset(ctx, { assetId: id, findUses: [findTrainingUse, findDeploymentUse] });
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'conflict')) throw error;
      kept += 1;
    }
  }
  return kept;
}
