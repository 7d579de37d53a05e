import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';

/** The index of a model with hundreds of layers and experts has some megabytes; an upload can be any size. */
const BYTES_MAX = 16 * 1024 ** 2;

const object = z.record(z.string(), z.unknown());

/** Returns the JSON object in a model's file; null if it is missing, too large or not an object. */
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
