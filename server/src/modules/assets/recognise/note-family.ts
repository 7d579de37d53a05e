import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { PIPELINE_INDEX } from './pipeline-index.ts';
import { MODEL_CONFIG, readFamily } from './read-family.ts';

/** The file usually has some kilobytes, but users may upload anything under its name. */
const BYTES_MAX = 1024 * 1024;

/** Returns the model family according to an uploaded file; null if it has none. */
export async function readFamilyOf(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { path, blob }: { path: string; blob: Blob },
): Promise<string | null> {
  if ((path !== MODEL_CONFIG && path !== PIPELINE_INDEX) || blob.sizeBytes > BYTES_MAX) return null;
  try {
    return readFamily(JSON.parse(await text(await readBlob(services, { sha256: blob.sha256, path }))));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * Step: records the family according to a file of a model. A fine-tune keeps its base's family, and a
 * Diffusers model its pipeline's.
 */
export async function noteFamily(
  tx: Transaction,
  assetId: string,
  { path, family }: { path: string; family: string },
): Promise<void> {
  await sql`
    update assets set family = ${family}
    where id = ${assetId} and not exists (select from asset_lineage where asset_id = assets.id)
      and (${path} = ${PIPELINE_INDEX} or not exists (
        select from asset_files f where f.asset_id = assets.id and f.path = ${PIPELINE_INDEX} and f.last_number is null
      ))`.execute(tx);
}
