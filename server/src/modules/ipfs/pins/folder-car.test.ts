import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { addressFile, addressFolder, type PutBlock } from '../cids/unixfs.ts';
import { readCar } from '../testing/read-blocks.ts';
import { writeCar } from './folder-car.ts';

const bytes = Buffer.alloc(8_000_003, 'rye, wheat and spelt. ');
async function* content(onPiece = () => {}) {
  for (let at = 0; at < bytes.length; at += 10_000) {
    onPiece();
    yield bytes.subarray(at, at + 10_000);
  }
}
const write = (put?: PutBlock, onPiece?: () => void) => addressFile(content(onPiece), put);

test('a CAR contains every block below its root and can be read back', async () => {
  const file = await write();
  const folder = (put?: PutBlock) => addressFolder([{ path: 'a/b.txt', ...file }], put);
  const { cid } = await folder();
  const car = writeCar(cid, async (put) => {
    await write(put);
    await folder(put);
  });
  expect(await readCar(await buffer(car))).toEqual({
    root: cid,
    files: { 'a/b.txt': bytes.toString('latin1') },
  });
});

test("creates blocks only at the reader's speed, and stops when the reader closes", async () => {
  let pieces = 0;
  const { cid } = await write();
  const failed = Promise.withResolvers<Error>();
  const car = writeCar(cid, (put) =>
    write(put, () => {
      pieces += 1;
    }).catch((error: Error) => {
      failed.resolve(error);
      throw error;
    }),
  );
  const reader = car[Symbol.asyncIterator]();
  await reader.next();
  await reader.return?.();
  expect((await failed.promise).message).toBe('The reader of the CAR has left');
  expect(pieces).toBeLessThan(800);
});

test('fails if a file cannot be read', async () => {
  const { cid } = await write();
  const broken = async (put: PutBlock) => {
    await write(put);
    throw new Error('the disk is gone');
  };
  await expect(buffer(writeCar(cid, broken))).rejects.toThrow('the disk is gone');
});
