import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../read-revision.ts';
import { PIPELINE_INDEX } from './pipeline-index.ts';

/** It has a few lines; a person may have put anything in its place. */
const BYTES_MAX = 512 * 1024;

const index = z.object({ _class_name: z.string() });

/** The pipeline of Diffusers that the files of a model are for; null where none of them says so. */
export async function readPipeline(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
): Promise<string | null> {
  const file = files.find(({ path }) => path === PIPELINE_INDEX);
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  try {
    return index.safeParse(JSON.parse(await text(await readBlob(services, file)))).data?._class_name ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
