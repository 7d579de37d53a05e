import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../read-revision.ts';
import { PIPELINE_INDEX } from './pipeline-index.ts';

/** The file usually has a few lines, but users may upload anything under its name. */
const BYTES_MAX = 512 * 1024;

/** The pipeline's class, and its components by folder name: library and class, or nulls for none. */
const pipelineIndex = z.looseObject({ _class_name: z.string() });

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
