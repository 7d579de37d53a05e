import { expect, test } from 'vitest';
import { type Address, addressFile, addressFolder } from './unixfs.ts';

async function* inPieces(bytes: Uint8Array, pieceBytes: number) {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** Non-repeating bytes: little-endian 32-bit numbers from 0. */
function counting(sizeBytes: number): Uint8Array {
  return new Uint8Array(Uint32Array.from({ length: sizeBytes / 4 }, (_, n) => n).buffer);
}

const MIB = 1024 * 1024;

/*
 * The CIDs were computed with boxo 0.43.0, the library of Kubo 0.43.1. kubo.soak.test.ts compares with a real
 * Kubo.
 */

test.each([
  ['nothing', new Uint8Array(), 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'],
  [
    'a line',
    new TextEncoder().encode('hello world\n'),
    'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4',
  ],
])('a file of one chunk is a raw leaf: %s', async (_what, bytes, cid) => {
  expect(await addressFile(inPieces(bytes, 5))).toEqual({ cid, dagBytes: bytes.length });
});

test.each([
  ['one chunk', MIB / 4, 'bafkreickgwszvk7tssw3dwb43jwtyltzsvj6gw5h4txfku34rlosbfjsu4'],
  ['one chunk and four bytes', MIB / 4 + 4, 'bafybeib6muh3jkt2khlanf5l3vucpiogrxtl2eryrhkodgyfg6yl56jao4'],
  ['174 chunks', 174 * (MIB / 4), 'bafybeig4vqmyrabzshfrjzatdebg6wrtl5pqose32fvdt7qykajn7n63fe'],
  [
    '175 chunks, which need another level',
    175 * (MIB / 4),
    'bafybeic5n5xnusk6cyj5vknaw67vlh5aamoaqjlji2qbncno47vxesjrsi',
  ],
])('a file of %s', async (_what, sizeBytes, cid) => {
  expect((await addressFile(inPieces(counting(sizeBytes), 100_003))).cid).toBe(cid);
});

const line = (text: string): Promise<Address> => addressFile(inPieces(new TextEncoder().encode(text), 64));

test('an empty folder', async () => {
  expect((await addressFolder([])).cid).toBe('bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354');
});

test('nested folders, regardless of the order of files', async () => {
  const files = await Promise.all(
    ['b/c.txt', 'a.txt', 'b/d/e.txt', '.hidden', 'b.txt', 'b/käse.txt'].map(async (path) => ({
      path,
      ...(await line(`${path}\n`)),
    })),
  );
  const { cid } = await addressFolder(files);
  expect(cid).toBe('bafybeien6zz3bjb43egyxiytk32ny2attc55gzcapn3aai6mnhzdoiwmfu');
  expect((await addressFolder(files.reverse())).cid).toBe(cid);
});

test.each([
  // A name of 28 bytes and a CID of 36 bytes are 64 bytes per file. 4096 files are exactly 256 KiB, the
  // maximum.
  [4096, 'bafybeifiehdwsevj3mgs7ck74ujz3ntp3hyh6tr4c2aeikxixv4qs5iwgi'],
  [4097, 'bafybeifw7zlrnyhgazguwx7hop6kigg7phgzax37opceesjdcahm43psli'],
])('a folder of %i files', async (count, cid) => {
  const same = await line('same\n');
  const files = Array.from({ length: count }, (_, n) => ({
    path: `${String(n).padStart(24, '0')}.txt`,
    ...same,
  }));
  expect((await addressFolder(files)).cid).toBe(cid);
});

test('a folder with too many subfolders for one block', async () => {
  const same = await line('same\n');
  const files = Array.from({ length: 5000 }, (_, n) => ({
    path: `${String(n).padStart(28, '0')}/x`,
    ...same,
  }));
  expect((await addressFolder(files)).cid).toBe(
    'bafybeigljgq6x7cuncpb3ibfu4frxl6o6z7fabiwkhliat4wponvsbe6ti',
  );
});
