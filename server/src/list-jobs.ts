import { deleteExpiredJob } from './modules/accounts/jobs/delete-expired.ts';
import { readCardJob } from './modules/assets/card/card-data.ts';
import { collectBlobsJob } from './modules/assets/jobs/collect-blobs.ts';
import { forgetRequestsJob } from './modules/chat/jobs/forget-requests.ts';
import { closeLostWindowsJob } from './modules/credits/jobs/close-lost-windows.ts';
import { collectDebtsJob } from './modules/credits/jobs/collect-debts.ts';
import { expireGivenJob } from './modules/credits/jobs/expire-given.ts';
import { expireHoldsJob } from './modules/credits/jobs/expire-holds.ts';
import { rotateUsagePartitionsJob } from './modules/credits/jobs/rotate-usage-partitions.ts';
import { sealTransfersJob } from './modules/credits/jobs/seal-transfers.ts';
import { syncPurchasesJob } from './modules/credits/jobs/sync-purchases.ts';
import { verifyLedgerJob } from './modules/credits/jobs/verify-ledger.ts';
import { warnOfLowBalanceJob } from './modules/credits/jobs/warn-of-low-balance.ts';
import type { UsageLeader } from './modules/credits/usage/usage-leader.ts';
import { forgetServerWorkloadsJob } from './modules/deployments/jobs/forget-server-workloads.ts';
import { meterDeploymentsJob } from './modules/deployments/jobs/meter-deployments.ts';
import { reconcileModelServerJob } from './modules/deployments/jobs/reconcile-model-server.ts';
import { forgetPicturesJob } from './modules/generations/jobs/forget-pictures.ts';
import { makeThumbnailJob } from './modules/generations/sources/ensure-thumbnail.ts';
import { forgetClonesJob } from './modules/hub/clone/forget-clones.ts';
import { forgetXorbsJob } from './modules/hub/xet/forget-xorbs.ts';
import { forgetNotificationsJob } from './modules/notifications/jobs/forget-notifications.ts';
import { warnOfExpiryJob } from './modules/notifications/jobs/warn-of-expiry.ts';
import { purgeDeletedJob } from './modules/privacy/jobs/purge-deleted.ts';
import { logRunsJob } from './modules/tracking/log-runs.ts';
import { forgetCheckpointsJob } from './modules/training/pictures/forget-checkpoints.ts';
import { forgetReadingsJob } from './modules/training/readings/forget-readings.ts';
import { readInBackground } from './modules/training/readings/read-in-background.ts';
import type { ReadData } from './modules/training/validation/read-data.ts';
import { forgetVisitorsJob } from './modules/visitors/jobs/forget-visitors.ts';
import { forgetAnswersJob } from './platform/db/idempotency/forget-answers.ts';
import { forgetChangesJob } from './platform/events/forget-changes.ts';
import type { AnyJob } from './platform/jobs/define-job.ts';
import { deliverMailJob } from './platform/mail/deliver-mail.ts';
import { scrubBlobsJob } from './platform/storage/scrub-blobs.ts';
import { sweepUploadsJob } from './platform/storage/uploads/sweep-uploads.ts';

type Needed = {
  databaseUrl: string;
  readData: ReadData;
  closeIdle: UsageLeader['closeIdle'];
};

/** The finite jobs of all modules. */
export function listJobs({ databaseUrl, readData, closeIdle }: Needed): AnyJob[] {
  return [
    forgetAnswersJob,
    forgetChangesJob,
    scrubBlobsJob,
    sweepUploadsJob,
    deliverMailJob,
    purgeDeletedJob,
    sealTransfersJob,
    expireHoldsJob,
    closeLostWindowsJob,
    rotateUsagePartitionsJob,
    expireGivenJob,
    collectDebtsJob,
    syncPurchasesJob,
    verifyLedgerJob(databaseUrl),
    warnOfLowBalanceJob,
    warnOfExpiryJob,
    forgetNotificationsJob,
    logRunsJob,
    forgetPicturesJob,
    forgetXorbsJob,
    readCardJob,
    makeThumbnailJob,
    forgetClonesJob,
    collectBlobsJob,
    deleteExpiredJob,
    meterDeploymentsJob({ closeIdle }),
    forgetRequestsJob,
    forgetServerWorkloadsJob,
    reconcileModelServerJob,
    readInBackground(readData),
    forgetReadingsJob,
    forgetCheckpointsJob,
    forgetVisitorsJob,
  ];
}
