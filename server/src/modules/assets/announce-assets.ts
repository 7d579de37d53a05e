import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChanges } from '../../platform/events/publish-change.ts';

/** Step: notifies the owners of these assets of a change. */
export async function announceAssets(tx: Transaction, assetIds: string[]): Promise<void> {
  const rows = await tx
    .selectFrom('assets')
    .select(['id', 'owner_user_id'])
    .where('id', '=', sql<string>`any(${assetIds}::uuid[])`)
    .where('owner_user_id', 'is not', null)
    .execute();
  await publishChanges(
    tx,
    rows.map(({ id, owner_user_id: userId }) => ({ userId, event: { topic: 'asset', id } })),
  );
}
