import { releaseUserWorkloads } from '../../engine/files/release-user-workloads.ts';
import type { Context, Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { deleteUserAnswers } from '../../platform/db/idempotency/delete-expired-answers.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { defineJob } from '../../platform/jobs/define-job.ts';
import { deleteUploadsOf } from '../../platform/storage/uploads/uploads.ts';
import { deleteAccountRows, listClosedAccounts, markPurged } from '../accounts/steps.ts';
import { listOwnAssets } from '../assets/own/own-assets.ts';
import { deleteAsset } from '../assets/remove-asset.ts';
import { deleteUserAccessRequests } from '../assets/restricted/access-requests.ts';
import { deleteUserShares } from '../assets/sharing/shares.ts';
import { deleteAnswersOf } from '../batches/bulk-answers.ts';
import { withdrawCredits } from '../billing/ledger/given-credits.ts';
import { writeOffDebt } from '../billing/ledger/write-off-debt.ts';
import { deleteBillingData } from '../billing/steps.ts';
import { deleteUserConversations } from '../chat/conversations/conversations.ts';
import { deleteUserResponses } from '../chat/responses/responses.ts';
import { deleteUserMessages } from '../contact/messages.ts';
import { endDeployment, terminateDeploymentsOf } from '../deployments/end-deployment.ts';
import { findAssetUse as findDeploymentUse } from '../deployments/find-asset-use.ts';
import { listLivePodIds } from '../deployments/kinds/list-live-pod-ids.ts';
import { deleteSavedConfigurations } from '../fine-tuning/configurations/configurations.ts';
import { findAssetUse as findTrainingUse } from '../fine-tuning/find-asset-use.ts';
import { deleteUserHeldOutAnswers } from '../fine-tuning/held-out/held-out-answers.ts';
import { deleteUserJobs } from '../fine-tuning/openai-jobs/jobs.ts';
import { deleteUserSamples } from '../fine-tuning/pictures/samples.ts';
import { cancelRun, listLiveRuns } from '../fine-tuning/runs/runs.ts';
import { deleteGenerations } from '../generations/end-generation.ts';
import { deleteHubData } from '../hub/delete-hub-data.ts';
import { deleteLicenceAcceptances } from '../licences/licences.ts';
import { deleteUserNotifications } from '../notifications/notifications.ts';
import { deleteReferralData } from '../referrals/referrals.ts';
import { endXAuth } from '../referrals/x/x-auth.ts';
import { deleteShareLinks } from '../share-links/share-links.ts';
import { deleteUserTrackers } from '../tracking/trackers.ts';

const REASON = 'The account was deleted';

/** Reason shown to other users whose deployments of the model were ended. */
const OWNER_GONE = 'The owner of the model deleted their account';

/**
 * Purges deleted users. Runs after a deletion, and every minute for users with data that could not be deleted
 * yet.
 */
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
 * Purges a deleted user: records first, then running work, assets and credits. Ends other users' deployments
 * of the user's models. Assets that other users' runs use, and runs that are still saving their work, remain
 * until a later call. Returns true if nothing remains.
 */
export async function purgeUser(services: Services, userId: string): Promise<boolean> {
  const ctx: Context = {
    ...services,
    caller: { kind: 'user', userId, isOperator: false },
    requestId: `purge-${userId}`,
    idempotencyKey: null,
  };
  if (ctx.config.x) await endXAuth(ctx, { isDeletion: true });
  await inTransaction(ctx.db, (tx) => deleteUserRecords(tx, userId));
  for (const runId of await listLiveRuns(ctx.db, userId))
    await cancelRun(ctx, { params: { runId }, query: undefined, body: undefined });
  for (const podId of await listLivePodIds(ctx.db, userId))
    await endDeployment(ctx, podId, { reason: REASON, endedBy: userId });
  await deleteGenerations(ctx);
  const { heldMicro } = await inTransaction(ctx.db, (tx) => withdrawCredits(tx, userId));
  const kept = await deleteAssets(ctx);
  const running = await listLiveRuns(ctx.db, userId);
  if (heldMicro > 0n || kept > 0 || running.length > 0) return false;
  await inTransaction(ctx.db, async (tx) => {
    // Delete them once more: work that ended in the meantime may have created notifications.
    await deleteUserRecords(tx, userId);
    await writeOffDebt(tx, userId);
    await markPurged(tx, { userId, now: ctx.clock.now() });
  });
  return true;
}

/** Deletes records that no other rows refer to. Idempotent. */
async function deleteUserRecords(tx: Transaction, userId: string): Promise<void> {
  await releaseUserWorkloads(tx, userId);
  await deleteSavedConfigurations(tx, userId);
  await deleteUserHeldOutAnswers(tx, userId);
  await deleteUserJobs(tx, userId);
  await deleteAnswersOf(tx, userId);
  await deleteUserSamples(tx, userId);
  await deleteUserNotifications(tx, userId);
  await deleteReferralData(tx, userId);
  await deleteUserMessages(tx, userId);
  await deleteUserConversations(tx, userId);
  await deleteUserResponses(tx, userId);
  await deleteUserAccessRequests(tx, userId);
  await deleteUserShares(tx, userId);
  await deleteShareLinks(tx, userId);
  await deleteUserTrackers(tx, userId);
  await deleteHubData(tx, userId);
  await deleteUploadsOf(tx, userId);
  await deleteLicenceAcceptances(tx, userId);
  await deleteBillingData(tx, userId);
  await deleteUserAnswers(tx, userId);
  await deleteAccountRows(tx, userId);
}

/** Deletes the user's assets. Returns how many are still in use. */
async function deleteAssets(ctx: Context): Promise<number> {
  let kept = 0;
  for await (const id of listOwnAssets(ctx.db, ctx.caller.userId)) {
    try {
      await terminateDeploymentsOf(ctx, { assetId: id, reason: OWNER_GONE });
      await deleteAsset(ctx, { assetId: id, findUses: [findTrainingUse, findDeploymentUse] });
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'conflict')) throw error;
      kept += 1;
    }
  }
  return kept;
}
