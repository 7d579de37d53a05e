import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { PIPELINE_INDEX } from './pipeline-index.ts';
import { readPipelineIndex } from './read-pipeline-index.ts';

/** Returns the pipelines of these models by id, without models whose file is missing or damaged. */
export async function findPipelines(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  assetIds: string[],
): Promise<Map<string, string>> {
  const files = await services.db
    .selectFrom('asset_files')
    .select(['asset_id', 'path', 'sha256', 'size_bytes'])
    .where('asset_id', '=', sql<string>`any(${assetIds}::uuid[])`)
    .where('path', '=', PIPELINE_INDEX)
    .where('last_number', 'is', null)
    .execute();
  const found = await Promise.all(
    files.map(async ({ asset_id, size_bytes, ...file }) => {
      const read = readPipelineIndex(services, [{ ...file, sizeBytes: Number(size_bytes) }]);
      const index = await read.catch(noneIfDamaged);
      return [asset_id, index?._class_name ?? null] as const;
    }),
  );
  return new Map(found.filter((one): one is readonly [string, string] => one[1] !== null));
}

function noneIfDamaged(error: unknown): null {
  if (error instanceof AppError) return null;
  throw error;
}
