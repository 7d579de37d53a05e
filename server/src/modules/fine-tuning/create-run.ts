import type { Quote } from '@bakehouse/contract/credits';
import { smallerAmount } from '@bakehouse/contract/money';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import { requestWorkload, UNTIL_RELEASED } from '../../engine/request-workload.ts';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { completeOnboardingStep } from '../accounts/onboarding.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { insertAsset } from '../assets/insert-asset.ts';
import { recordLineage } from '../assets/lineage.ts';
import type { AssetRevision } from '../assets/read-revision.ts';
import { lockAssetsForUse } from '../assets/remove-asset.ts';
import type { Price } from '../billing/prices/prices.ts';
import { defaultCeilingMicro } from './charges/ceiling.ts';
import { holdForRun } from './charges/hold-run.ts';
import type { RunPlace } from './place-run.ts';
import { insertRun, type Source, type Trained } from './queries.ts';
import { FINE_TUNE_KIND } from './runs/fine-tune-kind.ts';

/** Title and settings of the model that a run will produce. */
export type NewModel = {
  title: string;
  category: string;
  details: string;
  tags: string[];
  price: bigint;
  is_published: boolean;
  use_ipfs: boolean;
};

type NewTraining = {
  /** The resulting model. */
  body: NewModel;
  base: AssetRevision;
  /** Hub name of the base if it must be cloned first. The run waits for the clone. */
  clones?: string | null;
  dataset: Source;
  /** A revision with only the held-out file; null if a part of the dataset is held out. */
  validation?: AssetRevision | null;
  /** Other assets that must exist while the run is being started. */
  alsoReads: string[];
  place: RunPlace;
  spec: WorkloadSpec;
  trained: Trained;
  price: Price;
  seconds: number;
  flops: number;
  /** Memory estimate of a text model, by the formula alone. */
  memoryBytes?: number;
  costMicro: bigint;
  quote: Quote;
  /** Undefined for the default ceiling, 1.5 times the quote. */
  ceilingMicro: bigint | undefined;
  now: Date;
};

/**
 * Step: creates a model asset and its run, holds the quote (at most the ceiling), and queues the work. Throws
 * the errors of `lockAssetsForUse` and `holdForRun`.
 */
export async function createRun(
  tx: Transaction,
  ctx: Context,
  { body, base, clones = null, dataset, place, spec, trained, now, ...asked }: NewTraining,
): Promise<{ modelId: string; runId: string }> {
  const { userId } = ctx.caller;
  await lockAssetsForUse(tx, {
    ids: [...(clones === null ? [base.asset.id] : []), ...asked.alsoReads],
    userId,
  });
  const assetId = await insertModel(tx, userId, { body, base, clones });
  const runId = await requestWorkload(tx, {
    userId,
    behaviour: 'run',
    kind: FINE_TUNE_KIND,
    title: body.title,
    spec,
    placement: place.placement,
    expectedSeconds: asked.seconds,
    now,
    ...(clones !== null && restFor(clones)),
  });
  const sources = { base: sourceOf(base), dataset };
  // An export is a whole model, so serving it does not need the base.
  if (trained.kind !== 'export' && clones === null) await recordLineage(tx, { assetId, runId, ...sources });
  await announceStart(tx, { userId, runId, kind: trained.kind });
  await recordAudit(tx, { userId, action: 'run.started', detail: { run_id: runId, model_id: assetId } });
  const keyId = ctx.caller.key?.id ?? null;
  const run = {
    id: runId,
    kind: trained.kind,
    userId,
    keyId,
    title: body.title,
    modelAssetId: assetId,
    ...sources,
  };
  const ceilingMicro = asked.ceilingMicro ?? defaultCeilingMicro(asked.costMicro);
  const hold = await holdForRun(tx, run, {
    round: 'first',
    amountMicro: smallerAmount(asked.costMicro, ceilingMicro),
    ceilingMicro,
    now,
  });
  await insertRun(tx, {
    ...run,
    ...trained,
    validation: asked.validation
      ? { ...sourceOf(asked.validation), fileName: asked.validation.files[0]?.path ?? '' }
      : null,
    price: asked.price,
    devices: place.devices,
    quote: asked.quote,
    workFlops: asked.flops,
    memoryBytes: asked.memoryBytes ?? null,
    ...{ holdId: hold.id, heldMicro: hold.micro, holdExpiresAt: hold.expiresAt },
    ceilingMicro,
    estimateMicro: asked.ceilingMicro === undefined ? asked.costMicro : null,
    createdAt: now,
  });
  return { modelId: assetId, runId };
}

/** Returns the queue settings of a run that waits until its base model is cloned. */
function restFor(repoId: string) {
  return { notBefore: UNTIL_RELEASED, reason: `Cloning ${repoId} from the public hub first` };
}

async function insertModel(
  tx: Transaction,
  userId: string,
  { body, base, clones }: Pick<NewTraining, 'body' | 'base' | 'clones'>,
): Promise<string> {
  return insertAsset(tx, {
    ownerUserId: userId,
    datasetType: 'MODEL',
    title: body.title,
    category: body.category,
    details: body.details,
    tags: body.tags,
    priceMicro: body.price,
    isPublished: body.is_published,
    useIpfs: body.use_ipfs,
    baseModelType: base.asset.baseModelType,
    family: base.asset.family,
    parentAssetId: clones ? null : base.asset.id,
  });
}

async function announceStart(
  tx: Transaction,
  { userId, runId, kind }: { userId: string; runId: string; kind: Trained['kind'] },
): Promise<void> {
  await publishChange(tx, userId, { topic: 'run', id: runId });
  await completeOnboardingStep(tx, userId, 'create_model');
  if (kind !== 'export') await completeOnboardingStep(tx, userId, 'fine_tune_model');
}

/** Returns how a run's row refers to this revision. */
export function sourceOf({ asset, revision }: AssetRevision): Source {
  return { assetId: asset.id, revisionId: revision.id, title: asset.title };
}
