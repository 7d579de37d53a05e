import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { listTransactions } from '@bakehouse/contract/credits';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../testing/on-file-end.ts';
import { effort } from '../testing/soak.ts';
import { testGenerations } from '../testing/test-generations.ts';

/** More than the attempts that a picture has. */
const ROUNDS = effort({ usual: 4, soak: 50 });
const LIMIT_MS = effort({ usual: 240_000, soak: 3_600_000 });
const AT_ONCE = 4;

const setting = await testGenerations({ generates: false });
const { server, stub, clock } = setting;

/** Generates, until it is killed. */
async function startGenerating(): Promise<ChildProcess> {
  const { dataDir } = server.services.config;
  const program = fileURLToPath(import.meta.resolve('../testing/generating-process.ts'));
  const child = spawn(process.execPath, [program, clock.now().toISOString()], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: dataDir,
      DATABASE_URL: server.databaseUrl,
      BAKEHOUSE_DATA_DIR: dataDir,
      BAKEHOUSE_CACHE_DIR: `${dataDir}/cache`,
      BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
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

test('kill -9 of the process that generates, however often, fails no picture and charges none twice', {
  timeout: LIMIT_MS,
}, async () => {
  const ada = await server.signUp('Ada');
  stub.answer = 'hang';
  const asked = await Promise.all(Array.from({ length: AT_ONCE }, () => setting.generate(ada)));
  for (let round = 1; round <= ROUNDS; round += 1) {
    const child = await startGenerating();
    // Ada has the queue to herself, but for the last place, which is for a newcomer.
    await vi.waitFor(() => expect(stub.open).toBe(AT_ONCE - 1), { timeout: 30_000 });
    await kill(child);
    await vi.waitFor(() => expect(stub.open).toBe(0), { timeout: 10_000 });
    clock.advance({ seconds: 16 });
  }
  stub.answer = 'ok';
  await startGenerating();
  for (const { id } of asked) await setting.until(ada, id, 'completed');
  const call = { params: { userId: ada.userId }, query: {} };
  const { transactions } = await server.request(listTransactions, call, { as: ada });
  expect(transactions.filter(({ description }) => description === 'Picture by Paris')).toHaveLength(AT_ONCE);
});
