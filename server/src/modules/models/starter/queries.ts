import type { DatasetType } from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { StarterTask } from '../../assets/queries.ts';

export async function listStarterRows(
  db: Database | Transaction,
): Promise<{ id: string; slug: string; task: StarterTask; title: string; created_at: Date }[]> {
  return db
    .selectFrom('assets')
    .select(['id', 'starter_slug as slug', 'starter_task as task', 'title', 'created_at'])
    .where('starter_task', 'is not', null)
    .where('revision_id', 'is not', null)
    .orderBy('created_at')
    .$narrowType<{ slug: string; task: StarterTask }>()
    .execute();
}

/** Lists the shared models and datasets. `name` is accepted by `lockStarterAssets`. */
export async function listStarterAssets(
  db: Database,
): Promise<{ name: string; datasetType: string; files: number; bytes: bigint }[]> {
  return db
    .selectFrom('assets')
    .select([
      'starter_slug as name',
      'dataset_type as datasetType',
      'file_count as files',
      'size_bytes as bytes',
    ])
    .where('is_starter', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('starter_slug')
    .$narrowType<{ name: string }>()
    .execute();
}

/** Locks and returns the shared models and datasets with this title, slug or id. */
export async function lockStarterAssets(
  tx: Transaction,
  name: string,
): Promise<{ id: string; title: string; slug: string; datasetType: string; bytes: bigint }[]> {
  return tx
    .selectFrom('assets')
    .select(['id', 'title', 'starter_slug as slug', 'dataset_type as datasetType', 'size_bytes as bytes'])
    .where('is_starter', '=', true)
    .where('deleted_at', 'is', null)
    .where(
      sql<boolean>`(lower(title) = lower(${name}) or starter_slug = ${name} or id::text = lower(${name}))`,
    )
    .orderBy('created_at')
    .$narrowType<{ slug: string }>()
    .forUpdate()
    .execute();
}

/** Inserts or updates the row of a shared model or dataset, and locks it. */
export async function upsertStarterAsset(
  tx: Transaction,
  starter: {
    slug: string;
    /** Null for a dataset. */
    task: StarterTask | null;
    title: string;
    details: string;
    category: string;
    family?: string;
    tags: string[];
    datasetType?: DatasetType;
  },
): Promise<{ id: string; revisionId: string | null; datasetType: string }> {
  const words = {
    title: starter.title,
    details: starter.details,
    category: starter.category,
    family: starter.family ?? '',
    tags: starter.tags,
  };
  return tx
    .insertInto('assets')
    .values({
      ...words,
      starter_slug: starter.slug,
      starter_task: starter.task,
      is_starter: true,
      dataset_type: starter.datasetType ?? 'MODEL',
    })
    .onConflict((conflict) => conflict.column('starter_slug').doUpdateSet(words))
    .returning(['id', 'revision_id as revisionId', 'dataset_type as datasetType'])
    .executeTakeFirstOrThrow();
}
