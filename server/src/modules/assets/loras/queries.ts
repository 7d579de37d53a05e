import type { Database } from '../../../platform/db/database.ts';

/** What tells a LoRA from other models: the safetensors and JSON files of each of a user's, the newest model first. */
export async function selectTopFiles(
  db: Database,
  userId: string,
): Promise<{ id: string; title: string; path: string }[]> {
  return db
    .selectFrom('assets')
    .innerJoin('asset_files', 'asset_files.asset_id', 'assets.id')
    .select(['assets.id', 'assets.title', 'asset_files.path'])
    .where('owner_user_id', '=', userId)
    .where('dataset_type', '=', 'MODEL')
    .where('deleted_at', 'is', null)
    .where('last_number', 'is', null)
    .where('path', '~', '^[^/]+\\.(safetensors|json)$')
    .orderBy('assets.created_at', 'desc')
    .orderBy('assets.id')
    .execute();
}
