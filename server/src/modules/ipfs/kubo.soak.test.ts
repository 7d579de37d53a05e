import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { deleteAsset } from '@bakehouse/contract/assets';
import { getIpfs } from '@bakehouse/contract/ipfs';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testServer } from '../../testing/test-server.ts';
import { assetCalls } from '../assets/testing/asset-calls.ts';
import { type Address, addressFile, addressFolder } from './cids/unixfs.ts';
import { realKubo } from './testing/real-kubo.ts';
import { runIpfsWork } from './testing/run-ipfs-work.ts';

const LIMIT_MS = 900_000;
const CHUNK = 256 * 1024;

/** Returns the little-endian 32-bit numbers 0, 1, 2, … */
const counting = (sizeBytes: number) =>
  Buffer.from(Uint32Array.from({ length: sizeBytes / 4 }, (_, n) => n).buffer);

// Building Kubo takes minutes, so unixfs.test.ts uses constants that were computed with it.
describe('against a real Kubo', { timeout: LIMIT_MS }, async () => {
  const kubo = await realKubo();
  if (!kubo) return;
  const add = async (target: string) =>
    (await kubo.ipfs('add', '-r', '-H', '-Q', '--only-hash', '--cid-version=1', target)).trim();

  /** Computes the CIDs of these files and their folder with our code and with Kubo. */
  async function compare(contents: Map<string, Buffer>) {
    const folder = path.join(await temporaryFolder(), 'added');
    const files: ({ path: string } & Address)[] = [];
    const known = new Map<Buffer, Address>();
    for (const [file, content] of contents) {
      const place = path.join(folder, file);
      await mkdir(path.dirname(place), { recursive: true });
      await writeFile(place, content);
      const address = known.get(content) ?? (await addressFile(Readable.from([content])));
      known.set(content, address);
      files.push({ path: file, ...address });
    }
    return { ours: (await addressFolder(files)).cid, kubos: await add(folder), files, folder };
  }

  test.each([0, 4, CHUNK, CHUNK + 4, 174 * CHUNK, 175 * CHUNK, 400 * CHUNK + 8])(
    'a file of %i bytes has the same CID',
    async (sizeBytes) => {
      const { files, folder } = await compare(new Map([['file', counting(sizeBytes)]]));
      const cid = files[0]?.cid;
      expect(cid).toBe(await add(path.join(folder, 'file')));
    },
  );

  test('nested folders have the same CID', async () => {
    const paths = ['b/c.txt', 'a.txt', 'b/d/e.txt', '.hidden', 'b.txt', 'b/käse.txt'];
    const { ours, kubos } = await compare(new Map(paths.map((file) => [file, Buffer.from(`${file}\n`)])));
    expect(ours).toBe(kubos);
  });

  const same = Buffer.from('same\n');
  test.each([
    ['4096 files (at the limit)', 4096, (n: number) => `${String(n).padStart(24, '0')}.txt`],
    ['4097 files (over the limit)', 4097, (n: number) => `${String(n).padStart(24, '0')}.txt`],
    ['5000 folders', 5000, (n: number) => `${String(n).padStart(28, '0')}/x`],
    ['20000 files', 20_000, (n: number) => `${n}.txt`],
  ])('a folder of %s has the same CID', async (_what, count, name) => {
    const { ours, kubos } = await compare(new Map(Array.from({ length: count }, (_, n) => [name(n), same])));
    expect(ours).toBe(kubos);
  });

  test('a dataset is pinned, read from the node, and unpinned with the dataset', async () => {
    const ipfs = { kubo: { url: kubo.url, token: null }, pinning: null };
    const server = await testServer({ config: { ipfs } });
    const ada = await server.signUp('Ada');
    const { create, upload, uploadAt } = assetCalls(server);
    const id = await create(ada, { use_ipfs: true });
    const large = counting(90 * CHUNK);
    await uploadAt(ada, id, 'deep/large.bin', new Uint8Array(large));
    await upload(ada, id, 'a.txt', 'a\n');
    await runIpfsWork(server.services);
    const { revisions } = await server.request(getIpfs, { params: { id }, query: {} }, { as: ada });
    const [newest] = revisions;
    expect(newest?.pins).toMatchObject([{ service: 'kubo', state: 'pinned', reason: null }]);
    expect(await kubo.ipfs('cat', `/ipfs/${newest?.cid}/a.txt`)).toBe('a\n');
    expect(await kubo.ipfs('pin', 'ls', '--type=recursive')).toContain(newest?.cid);
    await server.request(deleteAsset, { params: { id } }, { as: ada });
    await runIpfsWork(server.services);
    expect(await kubo.ipfs('pin', 'ls', '--type=recursive')).not.toContain(newest?.cid);
  });
});
