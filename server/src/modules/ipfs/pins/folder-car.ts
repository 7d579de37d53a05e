import { Readable } from 'node:stream';
import { CarWriter } from '@ipld/car';
import { CID } from 'multiformats/cid';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { RevisionFile } from '../../assets/revisions/list-revision-files.ts';
import { type Address, addressFile, addressFolder, type PutBlock } from '../cids/unixfs.ts';

type Parts = Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>;

/**
 * Returns the folder of these files as a CAR: first the blocks of each file, then the blocks of the folders.
 */
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

/**
 * Returns a CAR (version 1) with this root and the blocks that `produce` writes. `put` waits if the reader is
 * slow, and rejects once the reader has closed.
 */
export function writeCar(root: string, produce: (put: PutBlock) => Promise<unknown>): Readable {
  const { writer, out } = CarWriter.create([CID.parse(root)]);
  const car = Readable.from(out, { objectMode: false });
  const waiting = new Set<() => void>();
  car.once('close', () => {
    for (const abort of waiting) abort();
  });
  const put: PutBlock = async (cid, bytes) => {
    if (car.destroyed) throw hasLeft();
    const taken = Promise.withResolvers<void>();
    const abort = () => taken.reject(hasLeft());
    waiting.add(abort);
    writer.put({ cid, bytes }).then(taken.resolve, taken.reject);
    await taken.promise.finally(() => waiting.delete(abort));
  };
  produce(put).then(
    () => writer.close(),
    (error: Error) => car.destroy(error),
  );
  return car;
}

function hasLeft(): Error {
  return new Error('The reader of the CAR has left');
}
