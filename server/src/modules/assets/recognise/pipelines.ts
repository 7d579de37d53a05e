import { text } from 'node:stream/consumers';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../read-revision.ts';

/** The file in which a Diffusers model describes its components. */
export const PIPELINE_INDEX = 'model_index.json';

/** The file usually has a few lines, but a user may upload any file under this name. */
const BYTES_MAX = 512 * 1024;

/**
 * Diffusers' `model_index.json`. Besides the pipeline's class it lists the components by folder name, each as
 * library and class, or as nulls for an absent component.
 */
const pipelineIndex = z.looseObject({ _class_name: z.string() });

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

export type PipelineIndex = z.infer<typeof pipelineIndex>;

/** Returns a model's Diffusers pipeline description; null if it has none. */
export async function readPipelineIndex(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
): Promise<PipelineIndex | null> {
  const file = files.find(({ path }) => path === PIPELINE_INDEX);
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  try {
    return pipelineIndex.safeParse(JSON.parse(await text(await readBlob(services, file)))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
