import type { Database, Transaction } from '../../platform/db/database.ts';
import { listStarterRows } from './queries.ts';

type StarterModelRef = {
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

/** The starter model of that name; undefined where there is none. */
export async function findStarterModel(
  db: Database | Transaction,
  modelName: string,
): Promise<StarterModelRef | undefined> {
  return (await listStarterModels(db)).find((starter) => starter.modelName === modelName);
}
