import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { StarterTask } from '../../assets/queries.ts';
import { listStarterRows } from './queries.ts';

export type StarterModelRef = {
  assetId: string;
  title: string;
  /** Slug: the `model` name in OpenAI-style calls. */
  modelName: string;
  task: StarterTask;
  createdAt: Date;
};

/** Returns the models that every user may use, oldest first. */
export async function listStarterModels(db: Database | Transaction): Promise<StarterModelRef[]> {
  return (await listStarterRows(db)).map((row) => ({
    assetId: row.id,
    title: row.title,
    modelName: row.slug,
    task: row.task,
    createdAt: row.created_at,
  }));
}
