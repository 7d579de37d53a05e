import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { listRevisionFiles, type RevisionFile } from '../../assets/revisions/list-revision-files.ts';
import { insertBlobCid, selectBlobCids } from '../queries.ts';
import { type Address, addressFile } from './unixfs.ts';

/**
 * Returns the files of a revision with their addresses. Computes and stores unknown addresses file by file,
 * so that another process can resume after a crash. Throws AppError('conflict') if a file is damaged.
 */
export async function addressFiles(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  revisionId: string,
  signal: AbortSignal,
): Promise<(RevisionFile & Address)[]> {
  const files = await listRevisionFiles(services.db, { revisionId });
  const known = await selectBlobCids(services.db, [...new Set(files.map(({ sha256 }) => sha256))]);
  const addressed: (RevisionFile & Address)[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const address = known.get(file.sha256) ?? (await addressBlob(services, file, signal));
    known.set(file.sha256, address);
    addressed.push({ ...file, ...address });
  }
  return addressed;
}

async function addressBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { sha256, path }: RevisionFile,
  signal: AbortSignal,
): Promise<Address> {
  const bytes = await readBlob(services, { sha256, path });
  const stop = () => bytes.destroy(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const address = await addressFile(bytes);
    await insertBlobCid(services.db, sha256, address);
    return address;
  } finally {
    signal.removeEventListener('abort', stop);
    bytes.destroy();
  }
}
