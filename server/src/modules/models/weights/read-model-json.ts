import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';

/** The index of a model of hundreds of layers and experts has some megabytes; a person may have put anything in its place. */
const BYTES_MAX = 16 * 1024 ** 2;

const object = z.record(z.string(), z.unknown());

/** The JSON object in a file of a model; null where there is no such file, or another content. */
export async function readModelJson(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
  path: string,
): Promise<Record<string, unknown> | null> {
  const file = files.find((one) => one.path === path);
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  try {
    return object.safeParse(JSON.parse(await text(await readBlob(services, file)))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
