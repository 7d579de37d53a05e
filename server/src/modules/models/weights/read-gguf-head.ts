import { buffer } from 'node:stream/consumers';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { type GgufHead, parseGgufHead } from './gguf.ts';

/** A GGUF stores the needed metadata before its long vocabulary. */
const HEAD_BYTES = 64 * 1024;

/** Reads the metadata at the start of a GGUF file. */
export async function readGgufHead(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: AssetRevision['files'][number],
): Promise<GgufHead> {
  const end = Math.min(HEAD_BYTES, file.sizeBytes) - 1;
  return parseGgufHead(await buffer(await readBlob(services, { ...file, range: { start: 0, end } })));
}
