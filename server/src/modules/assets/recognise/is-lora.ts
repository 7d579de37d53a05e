import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { newestFiles } from '../queries.ts';
import { findLoraFile } from './find-lora-file.ts';

/** Step: returns true if the newest files of a model are a LoRA. */
export async function isLora(tx: Transaction, assetId: string): Promise<boolean> {
  const files = await newestFiles(tx, assetId)
    .select('path')
    .where(sql<boolean>`path ~ '^[^/]+\\.(safetensors|json)$'`)
    .execute();
  return findLoraFile(files) !== undefined;
}
