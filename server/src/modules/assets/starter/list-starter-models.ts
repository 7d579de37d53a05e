import type { Database, Transaction } from '../../../platform/db/database.ts';
import { listStarterRows } from '../queries.ts';

export type StarterModelRef = {
  assetId: string;
  title: string;
  /** Its slug: the name for `model` in OpenAI-style calls. */
  modelName: string;
  createdAt: Date;
};

/** The models that everybody may use, oldest first. */
export async function listStarterModels(db: Database | Transaction): Promise<StarterModelRef[]> {
  return (await listStarterRows(db)).map((row) => ({
    assetId: row.id,
    title: row.title,
    modelName: row.slug,
    createdAt: row.created_at,
  }));
}
