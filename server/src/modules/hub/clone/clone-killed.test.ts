import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { type TestServer, testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { cloneCalls } from '../testing/clones.ts';
import { openPublicHub, type PublicHub } from '../testing/public-hub.ts';

const MIB = 1024 * 1024;
/** Three parts of 16 MiB. */
const LARGE = randomBytes(40 * MIB);

/** A process that clones what this server's users ask for, until it is killed. */
async function startCloning({ services, databaseUrl }: TestServer, hub: PublicHub): Promise<ChildProcess> {
  const { dataDir } = services.config;
  const program = fileURLToPath(import.meta.resolve('../../../testing/cloning-process.ts'));
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      DATABASE_URL: databaseUrl,
      BAKEHOUSE_DATA_DIR: dataDir,
      BAKEHOUSE_CACHE_DIR: `${dataDir}/cache`,
      BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
      BAKEHOUSE_SERVICE_URLS: `huggingface=${hub.url}`,
      BAKEHOUSE_DRIVER: 'fake',
      BAKEHOUSE_PREPARE: 'false',
      BAKEHOUSE_LOG_LEVEL: 'silent',
    },
  });
  onFileEnd(() => kill(child));
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

test('a clone whose process is killed goes on from its last part', { timeout: 180_000 }, async () => {
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
    // The beginning of the last part comes, and no more.
    response.writeHead(206, { 'content-range': `bytes ${32 * MIB}-${40 * MIB - 1}/${40 * MIB}` });
    response.write(LARGE.subarray(32 * MIB, 36 * MIB));
    return true;
  };
  const { id } = await calls.start(ada, 'bakery/large', 'RAW');
  const first = await startCloning(server, hub);
  await vi.waitFor(
    async () => {
      const parts = await db.selectFrom('upload_parts').select('number').execute();
      expect(parts.length).toBeGreaterThanOrEqual(2);
      expect((await calls.status(ada, id)).bytes_done).toBeGreaterThan(32 * MIB);
    },
    { timeout: 60_000, interval: 50 },
  );
  await kill(first);
  holds = false;
  hub.requests = [];
  // Nobody has given it back: it is free once the lease has run out.
  await sql`update hub_clones set locked_until = now(), check_at = now()`.execute(db);
  const second = await startCloning(server, hub);
  const done = await calls.untilEnded(ada, id);
  await kill(second);
  expect(done).toMatchObject({ status: 'COMPLETED', files_done: 2, bytes_done: done.bytes_total });
  expect(hub.requests.map(({ file, range }) => [file, range])).toEqual([
    ['data/rows.bin', `bytes=${32 * MIB}-${40 * MIB - 1}`],
  ]);
  const { download } = assetCalls(server);
  const bytes = Buffer.from(await (await download(ada, done.asset_id ?? '', 'data/rows.bin')).arrayBuffer());
  expect(bytes.equals(LARGE)).toBe(true);
});
