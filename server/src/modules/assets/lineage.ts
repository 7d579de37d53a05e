import type { Database, Transaction } from '../../platform/db/database.ts';
import { findLineage, insertLineage } from './queries.ts';

type Source = { assetId: string; revisionId: string; title: string };

/** Returns the sources of a model; null for an uploaded model. */
export async function readLineage(
  tx: Database | Transaction,
  input: { assetId: string },
): Promise<{ runId: string; baseModel: Source; dataset: Source } | null> {
  const row = await findLineage(tx, input.assetId);
  if (!row) return null;
  return {
    runId: row.run_id,
    baseModel: { assetId: row.base_asset_id, revisionId: row.base_revision_id, title: row.base_title },
    dataset: { assetId: row.dataset_asset_id, revisionId: row.dataset_revision_id, title: row.dataset_title },
  };
}

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
