import { formatBytes } from '@bakehouse/contract/labels';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { ensureOpenClone } from '../../hub/clone/clones.ts';
import { sizeOf } from '../../hub/public/describe-repository.ts';
import { readRemoteModel } from '../../hub/public/read-remote-model.ts';
import { findRemoteFault } from '../validation/create-training-predictor.ts';

/** A base model on the public hub that the user has not cloned yet. */
export type HubBase = {
  repoId: string;
  /** Total size of the files that a clone copies. */
  sizeBytes: number;
  /** The commit that a clone copies. */
  commit: string;
  /**
   * The base with only its configuration and tokenizer, which suffice for the estimate. Its ids are
   * placeholders until `cloneHubBase`.
   */
  base: AssetRevision;
  /** Why the model cannot be cloned or fine-tuned, as a sentence without a full stop; null if it can be. */
  fault: string | null;
};

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Reads a base model on the public hub. Throws whatever `readRemoteModel` throws. */
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

export function describeCloneWarning({ repoId, sizeBytes }: HubBase): string {
  return `${repoId} is cloned from the public hub first: ${formatBytes(sizeBytes)} of your storage. The clone costs nothing.`;
}

/**
 * Step: starts a clone of the base, or joins a running one. Returns the base with the clone's id, which will
 * be the model's id. Throws the errors of `ensureOpenClone`.
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

/**
 * True if the run waits for its base model to be cloned. Until then, its asset and revision have the same
 * placeholder id.
 */
export function awaitsClone({ base }: { base: { assetId: string; revisionId: string } }): boolean {
  return base.assetId === base.revisionId;
}
