import { buffer } from 'node:stream/consumers';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { type GgufHead, parseGgufHead } from './gguf.ts';

/** What a GGUF says of its model comes before its vocabulary, which is long. */
const HEAD_BYTES = 64 * 1024;

/** What a GGUF says of its model at the beginning of its file. */
export async function readGgufHead(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: AssetRevision['files'][number],
): Promise<GgufHead> {
  const end = Math.min(HEAD_BYTES, file.sizeBytes) - 1;
  return parseGgufHead(await buffer(await readBlob(services, { ...file, range: { start: 0, end } })));
}
