import { Readable } from 'node:stream';
import { CarWriter } from '@ipld/car';
import { CID } from 'multiformats/cid';
import type { PutBlock } from '../cids/unixfs.ts';

/**
 * Returns a CAR (version 1) with this root and the blocks that `produce` puts. Backpressure limits it to the
 * reader's speed; once the reader has closed, each `put` rejects.
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
