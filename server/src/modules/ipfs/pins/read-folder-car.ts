import type { Readable } from 'node:stream';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { RevisionFile } from '../../assets/revisions/list-revision-files.ts';
import { type Address, addressFile, addressFolder, type PutBlock } from '../cids/unixfs.ts';
import { writeCar } from './write-car.ts';

type Parts = Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>;

/** Returns the folder of these files as a CAR: the blocks of each file, then the folders' blocks. */
export function readFolderCar(services: Parts, root: string, files: (RevisionFile & Address)[]): Readable {
  return writeCar(root, async (put) => {
    const written = new Set<string>();
    for (const file of files) {
      if (written.has(file.sha256)) continue;
      written.add(file.sha256);
      await putFile(services, file, put);
    }
    await addressFolder(files, put);
  });
}

async function putFile(services: Parts, { sha256, path }: RevisionFile, put: PutBlock): Promise<void> {
  const bytes = await readBlob(services, { sha256, path });
  try {
    await addressFile(bytes, put);
  } finally {
    bytes.destroy();
  }
}
