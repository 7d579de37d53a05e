import type { AuditAction } from '@bakehouse/contract/audit';
import type { ChangeEvent } from '@bakehouse/contract/events';
import type { SharedKind } from '@bakehouse/contract/share-links';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { findChangeableAsset } from '../assets/access/find-changeable-asset.ts';
import { lockChangeableAsset } from '../assets/access/lock-changeable-asset.ts';
import { findGeneration } from '../generations/find-generations.ts';
import { findOwnGeneration } from '../generations/find-own-generation.ts';
import { mediumOf } from '../generations/media-table.ts';
import { findOwnRun } from '../training/runs/find-own-run.ts';

type Own = { id: string; userId: string };

type Thing = {
  /** What the audit log says of it. */
  detail: Record<string, string>;
  /** Why it cannot be shared, as a sentence; null where it can. */
  obstacle: string | null;
};

/** How one kind of thing is found for its owner; each throws AppError 'not_found' for anybody else, or 'forbidden'. */
type Shareable = {
  find: (db: Database, own: Own) => Promise<Thing>;
  /** Step: the same in a transaction, locked where it may be deleted meanwhile: runs go with their account alone. */
  hold: (tx: Transaction, own: Own) => Promise<Thing>;
  topic: ChangeEvent['topic'];
  shared: AuditAction;
  unshared: AuditAction;
};

export const shareables: Record<SharedKind, Shareable> = {
  generation: {
    find: async (db, own) => {
      const row = await findGeneration(db, own);
      if (!row) throw new AppError('not_found', { publicMessage: 'No generation has this id' });
      return ofGeneration(row);
    },
    hold: async (tx, own) => ofGeneration(await findOwnGeneration(tx, own)),
    topic: 'generation',
    shared: 'generation.shared',
    unshared: 'generation.unshared',
  },
  run: {
    find: async (db, { id, userId }) => ofRun(await findOwnRun(db, { runId: id, userId })),
    hold: async (tx, { id, userId }) => ofRun(await findOwnRun(tx, { runId: id, userId })),
    topic: 'run',
    shared: 'run.shared',
    unshared: 'run.unshared',
  },
  model: {
    find: async (db, { id, userId }) => ofAsset(await findChangeableAsset(db, { assetId: id, userId })),
    hold: async (tx, { id, userId }) => ofAsset(await lockChangeableAsset(tx, { assetId: id, userId })),
    topic: 'asset',
    shared: 'asset.link_shared',
    unshared: 'asset.link_revoked',
  },
};

type Found<Find extends (...input: never[]) => unknown> = NonNullable<Awaited<ReturnType<Find>>>;

function ofGeneration({ id, state, generator }: Found<typeof findGeneration>): Thing {
  const obstacle =
    state === 'completed'
      ? null
      : `This ${mediumOf(generator).noun} is not completed, so there is nothing to share`;
  return { detail: { generation_id: id }, obstacle };
}

function ofRun({ run }: Found<typeof findOwnRun>): Thing {
  return {
    detail: { run_id: run.id, model_id: run.modelAssetId },
    obstacle: run.kind === 'export' ? 'An export trains nothing. Share the model that it makes' : null,
  };
}

function ofAsset(asset: Found<typeof findChangeableAsset>): Thing {
  return { detail: { asset_id: asset.id }, obstacle: obstacleOf(asset) };
}

function obstacleOf({
  dataset_type,
  is_restricted,
  title,
}: Found<typeof findChangeableAsset>): string | null {
  if (dataset_type !== 'MODEL')
    return 'Only models are shared by a link. Share a dataset with users by their usernames, or publish it';
  return is_restricted
    ? `${title} is a restricted model: access to it is granted, not shared. Remove the restriction to share it`
    : null;
}
