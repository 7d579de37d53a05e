import type { Transaction } from '../../platform/db/database.ts';
import { insertLineage } from './queries.ts';

/** Records the sources of a model with their current titles. An existing record stays. */
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
