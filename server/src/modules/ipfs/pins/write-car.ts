import { Readable } from 'node:stream';
import { CarWriter } from '@ipld/car';
import { CID } from 'multiformats/cid';
import type { PutBlock } from '../cids/unixfs.ts';

/**
 * A CAR (version 1) with this root, of the blocks that `produce` puts. It is made as fast as it is read; once its reader has
 * left, each `put` rejects.
 */
export function writeCar(root: string, produce: (put: PutBlock) => Promise<unknown>): Readable {
  const { writer, out } = CarWriter.create([CID.parse(root)]);
  const car = Readable.from(out, { objectMode: false });
  const waiting = new Set<() => void>();
  car.once('close', () => {
    for (const giveUp of waiting) giveUp();
  });
  const put: PutBlock = async (cid, bytes) => {
    if (car.destroyed) throw hasLeft();
    const taken = Promise.withResolvers<void>();
    const giveUp = () => taken.reject(hasLeft());
    waiting.add(giveUp);
    writer.put({ cid, bytes }).then(taken.resolve, taken.reject);
    await taken.promise.finally(() => waiting.delete(giveUp));
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
