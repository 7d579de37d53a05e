import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { cloneCalls } from '../testing/clones.ts';
import { killProcess, startCloningProcess } from '../testing/cloning-processes.ts';
import { openPublicHub } from '../testing/public-hub.ts';

const MIB = 1024 * 1024;
/** Three parts: the part size is 16 MiB. */
const LARGE = randomBytes(40 * MIB);

test('a clone resumes from its last part after its process is killed', { timeout: 180_000 }, async () => {
  const files = { 'README.md': '# Loaves', 'data/rows.bin': LARGE };
  const hub = await openPublicHub([{ type: 'dataset', id: 'bakery/large', files }]);
  const server = await testServer();
  server.services.config.hubUrl = hub.url;
  const { db } = server.services;
  const ada = await server.signUp('Ada');
  const calls = cloneCalls(server);
  let holds = true;
  hub.instead = (request, response, file) => {
    if (!holds || file !== 'data/rows.bin' || !request.headers.range?.startsWith(`bytes=${32 * MIB}-`))
      return;
    // Send only the beginning of the last part.
    response.writeHead(206, { 'content-range': `bytes ${32 * MIB}-${40 * MIB - 1}/${40 * MIB}` });
    response.write(LARGE.subarray(32 * MIB, 36 * MIB));
    return true;
  };
  const { id } = await calls.start(ada, 'bakery/large', 'RAW');
  const first = await startCloningProcess(server);
  await vi.waitFor(
    async () => {
      const parts = await db
        .selectFrom('upload_parts')
        .innerJoin('uploads', 'uploads.id', 'upload_parts.upload_id')
        .select('number')
        .where('uploads.size_bytes', '=', BigInt(LARGE.length))
        .execute();
      expect(parts).toHaveLength(2);
      expect((await calls.status(ada, id)).bytes_done).toBeGreaterThan(32 * MIB);
    },
    { interval: 50 },
  );
  await killProcess(first);
  holds = false;
  hub.requests = [];
  // The killed process still holds the lease, so let it expire.
  await sql`update hub_clones set locked_until = now(), check_at = now()`.execute(db);
  const second = await startCloningProcess(server);
  const done = await calls.untilEnded(ada, id);
  await killProcess(second);
  expect(done).toMatchObject({ status: 'COMPLETED', files_done: 2, bytes_done: done.bytes_total });
  expect(hub.requests.map(({ file, range }) => [file, range])).toEqual([
    ['data/rows.bin', `bytes=${32 * MIB}-${40 * MIB - 1}`],
  ]);
  const { download } = assetCalls(server);
  const bytes = Buffer.from(await (await download(ada, done.asset_id ?? '', 'data/rows.bin')).arrayBuffer());
  expect(bytes.equals(LARGE)).toBe(true);
});
