import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { StarterTask } from '../../assets/queries.ts';

export async function listStarterRows(
  db: Database | Transaction,
): Promise<{ id: string; slug: string; task: StarterTask; title: string; created_at: Date }[]> {
  return db
    .selectFrom('assets')
    .select(['id', 'starter_slug as slug', 'starter_task as task', 'title', 'created_at'])
    .where('starter_slug', 'is not', null)
    .where('revision_id', 'is not', null)
    .orderBy('created_at')
    .$narrowType<{ slug: string; task: StarterTask }>()
    .execute();
}

/** Makes the row of a starter model, or brings its words up to date. Locks it. */
export async function upsertStarterAsset(
  tx: Transaction,
  starter: {
    slug: string;
    task: StarterTask;
    title: string;
    details: string;
    category: string;
    family?: string;
    tags: string[];
  },
): Promise<string> {
  const words = {
    title: starter.title,
    details: starter.details,
    category: starter.category,
    family: starter.family ?? '',
    tags: starter.tags,
  };
  const { id } = await tx
    .insertInto('assets')
    .values({
      ...words,
      starter_slug: starter.slug,
      starter_task: starter.task,
      is_starter: true,
      dataset_type: 'MODEL',
    })
    .onConflict((conflict) => conflict.column('starter_slug').doUpdateSet(words))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
