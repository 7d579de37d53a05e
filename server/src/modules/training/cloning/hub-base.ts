import { formatBytes } from '@bakehouse/contract/labels';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { ensureOpenClone } from '../../hub/clone/start-clone.ts';
import { sizeOf } from '../../hub/public/describe-repository.ts';
import { readRemoteModel } from '../../hub/public/read-remote-model.ts';
import { findRemoteFault } from '../validation/foresee-training.ts';

/** A base model on the public hub, of which the user has no clone yet. */
export type HubBase = {
  repoId: string;
  /** What a clone of it takes. */
  sizeBytes: number;
  /** The commit to clone. */
  commit: string;
  /** With its configuration and tokenizer only: enough for the estimate. It has no id before `cloneHubBase`. */
  base: AssetRevision;
  /** Why it cannot be cloned or fine-tuned: a sentence without its full stop, or null. */
  fault: string | null;
};

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Throws what `readRemoteModel` throws. */
export async function readHubBase(ctx: Context, id: string, signal: AbortSignal): Promise<HubBase> {
  const { repoId, revision, model, files, obstacle } = await readRemoteModel(ctx, id, signal);
  return {
    repoId,
    sizeBytes: sizeOf(model.files),
    commit: revision,
    base: {
      asset: {
        ...{ id: NO_ID, ownerUserId: ctx.caller.userId, datasetType: 'MODEL', title: model.title, tags: [] },
        ...{ isStarter: false, starterSlug: null, starterTask: null },
        ...{ baseModelType: null, family: '', parentAssetId: null },
      },
      revision: { id: NO_ID, number: 1, createdAt: ctx.clock.now() },
      files,
    },
    fault: obstacle ?? (await findRemoteFault(model)),
  };
}

/** Pure. */
export function warnOfClone({ repoId, sizeBytes }: HubBase): string {
  return `${repoId} is cloned from the public hub first: ${formatBytes(sizeBytes)} of your storage. The clone costs nothing.`;
}

/**
 * Step: starts the clone, or joins the one that is under way. Answers the base with the id that its model will have, which is the id
 * of the clone. Throws what `ensureOpenClone` throws.
 */
export async function cloneHubBase(
  tx: Transaction,
  { userId, now }: { userId: string; now: Date },
  { repoId, commit, base }: HubBase,
): Promise<AssetRevision> {
  const wanted = { userId, repoId, datasetType: 'MODEL', revision: commit, now } as const;
  const { id } = await ensureOpenClone(tx, wanted);
  return { asset: { ...base.asset, id }, revision: { ...base.revision, id }, files: [] };
}

/** Whether a run has its base model only as a clone that has not completed: no revision has the id of its asset. Pure. */
export function awaitsClone({ base }: { base: { assetId: string; revisionId: string } }): boolean {
  return base.assetId === base.revisionId;
}
