import { deleteExpiredJob } from './modules/accounts/jobs/delete-expired.ts';
import { readCardJob } from './modules/assets/card/card-data.ts';
import { collectBlobsJob } from './modules/assets/jobs/collect-blobs.ts';
import { bulkWork } from './modules/batches/answer-in-turns.ts';
import { runBatch } from './modules/batches/run-batch.ts';
import {
  collectDebtsJob,
  expireGivenJob,
  expireHoldsJob,
  sealTransfersJob,
  verifyLedgerJob,
} from './modules/billing/jobs/ledger-jobs.ts';
import { syncPurchasesJob } from './modules/billing/jobs/sync-purchases.ts';
import { closeLostWindowsJob, rotateUsagePartitionsJob } from './modules/billing/jobs/usage-jobs.ts';
import { warnOfLowBalanceJob } from './modules/billing/jobs/warn-of-low-balance.ts';
import type { UsageLeader } from './modules/billing/usage/usage-leader.ts';
import type { ChatParts } from './modules/chat/chat-parts.ts';
import { pruneChatDataJob } from './modules/chat/jobs/prune-chat-data.ts';
import { deleteServerWorkloadsJob } from './modules/deployments/jobs/delete-server-workloads.ts';
import { meterDeploymentsJob } from './modules/deployments/jobs/meter-deployments.ts';
import { reconcileModelServerJob } from './modules/deployments/jobs/reconcile-model-server.ts';
import { runDraft } from './modules/drafts/run/run-draft.ts';
import { createCloneWaitLoop } from './modules/fine-tuning/cloning/clone-wait-loop.ts';
import { deleteOldCheckpointsJob } from './modules/fine-tuning/pictures/checkpoints.ts';
import { readInBackground } from './modules/fine-tuning/readings/read-in-background.ts';
import { deleteOldReadingsJob } from './modules/fine-tuning/readings/readings.ts';
import type { ReadData } from './modules/fine-tuning/validation/read-data.ts';
import { deleteUnusedPicturesJob } from './modules/generations/jobs/delete-unused-pictures.ts';
import { SERVICE_PLACES } from './modules/generations/media-table.ts';
import type { RunningParts } from './modules/generations/run/attempt.ts';
import { createGenerationLoop } from './modules/generations/run/run-generation.ts';
import { makeThumbnailJob } from './modules/generations/sources/pictures.ts';
import { deleteClonesJob } from './modules/hub/clone/clones.ts';
import { createCloneLoop } from './modules/hub/clone/run-clone.ts';
import { createCidLoop, createPinLoop } from './modules/ipfs/ipfs-loop.ts';
import {
  deleteOldNotificationsJob,
  notifyKeyExpiryJob,
} from './modules/notifications/jobs/notification-jobs.ts';
import { purgeDeletedJob } from './modules/privacy/purge-user.ts';
import { PARALLEL_PICTURES } from './modules/serving/image-spec.ts';
import { logRunsJob } from './modules/tracking/tracked-runs.ts';
import { deleteVisitorPicturesJob } from './modules/visitors/jobs/delete-visitor-pictures.ts';
import type { Services } from './platform/context.ts';
import { deleteExpiredAnswersJob } from './platform/db/idempotency/delete-expired-answers.ts';
import { deleteOldChangesJob } from './platform/events/delete-old-changes.ts';
import type { AnyJob } from './platform/jobs/define-job.ts';
import { claimWork, createLeaseLoop, type LeaseLoop } from './platform/leases/lease-loop.ts';
import { deliverMailJob } from './platform/mail/mail.ts';
import { removeSharedFilesJob } from './platform/sandbox/share-files.ts';
import { scrubBlobsJob } from './platform/storage/scrub-blobs.ts';
import { sweepUploadsJob } from './platform/storage/uploads/uploads.ts';
import type { Role } from './roles.ts';
import { deleteXorbsJob } from './wires/huggingface/xet/xorbs.ts';

type Needed = {
  databaseUrl: string;
  readData: ReadData;
  closeIdle: UsageLeader['closeIdle'];
};

/*
 * All background work: jobs, which are finite, and loops, which lease due rows as long as the process runs.
 */

/** Returns all jobs. Processes with the worker role run them. */
export function listJobs({ databaseUrl, readData, closeIdle }: Needed): AnyJob[] {
  return [
    deleteExpiredAnswersJob,
    deleteOldChangesJob,
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
    notifyKeyExpiryJob,
    deleteOldNotificationsJob,
    logRunsJob,
    deleteUnusedPicturesJob,
    deleteXorbsJob,
    readCardJob,
    makeThumbnailJob,
    deleteClonesJob,
    collectBlobsJob,
    deleteExpiredJob,
    meterDeploymentsJob({ closeIdle }),
    pruneChatDataJob,
    deleteServerWorkloadsJob,
    reconcileModelServerJob,
    readInBackground(readData),
    deleteOldReadingsJob,
    deleteOldCheckpointsJob,
    deleteVisitorPicturesJob,
    removeSharedFilesJob,
  ];
}

type LoopParts = {
  services: Services;
  chat: ChatParts;
  serving: RunningParts['serving'];
};

type BackgroundLoop = { role: Role; loop: LeaseLoop };

/** Returns all loops. Each one runs in the processes of its role. */
export function listLoops({ services, chat, serving }: LoopParts) {
  return {
    // One at a time, because its own requests count as calls of the user.
    answers: {
      role: 'web',
      loop: createLeaseLoop(services, {
        name: 'answers',
        places: 1,
        claim: claimWork(
          services,
          bulkWork({
            batch: (lease, signal) => runBatch(services, chat, { lease, signal }),
            draft: (lease, signal) => runDraft(services, chat, { lease, signal }),
          }),
        ),
      }),
    },
    generations: {
      role: 'worker',
      loop: createGenerationLoop({
        ...{ services, serving },
        places: { own: PARALLEL_PICTURES, upstream: SERVICE_PLACES },
      }),
    },
    cids: { role: 'worker', loop: createCidLoop(services) },
    pins: { role: 'worker', loop: createPinLoop(services) },
    clones: { role: 'worker', loop: createCloneLoop(services) },
    cloneWaits: { role: 'worker', loop: createCloneWaitLoop(services) },
  } satisfies Record<string, BackgroundLoop>;
}
