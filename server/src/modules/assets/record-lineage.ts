import type { Transaction } from '../../platform/db/database.ts';
import { insertLineage } from './queries.ts';

/** Notes what a model was made from. The first note stays; the titles are kept as they are now. */
export async function recordLineage(
  tx: Transaction,
  lineage: {
    assetId: string;
    runId: string;
    base: { assetId: string; revisionId: string; title: string };
    dataset: { assetId: string; revisionId: string; title: string };
  },
): Promise<void> {
  await insertLineage(tx, lineage);
}
