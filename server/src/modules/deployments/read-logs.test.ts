import path from 'node:path';
import { vllmLogs } from '@bakehouse/contract/deployments/text';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { insertLogLines } from '../../engine/queries.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { type TestServing, testServing } from '../../testing/test-serving.ts';
import { readRevision } from '../assets/read-revision.ts';
import { insertFineTune, insertStarter } from './testing/test-models.ts';

let serving: TestServing;
let starter: { assetId: string; revisionId: string };
let user: TestUser;

beforeAll(async () => {
  serving = await testServing();
  starter = await insertStarter(serving.server.services, 'starter-model');
});

beforeEach(async () => {
  user = await serving.server.signUp();
});

const insertTune = (owner: TestUser, title: string) =>
  insertFineTune(serving.server.services, starter, owner, title);

async function deployTune(owner: TestUser, title: string): Promise<string> {
  const podId = await serving.deploy(owner, await insertTune(owner, title));
  await serving.untilRunning(owner, podId);
  return podId;
}

async function readLog(podId: string, limit?: number): Promise<string[]> {
  const asked = { params: { podId }, query: { limit } };
  const { lines } = await serving.server.request(vllmLogs, asked, { as: user });
  return lines.map(({ line }) => line);
}

/** Adds lines to the log of the only running model server. */
async function write(...written: string[]): Promise<void> {
  const { clock, driver, server } = serving;
  await vi.waitFor(() => expect(driver.running()).toHaveLength(1));
  const workloadId = driver.running()[0]?.workloadId ?? '';
  const lines = written.map((line) => ({ at: clock.now(), line }));
  await server.services.db.transaction().execute((tx) => insertLogLines(tx, workloadId, lines));
}

it('shows what the model server prints', async () => {
  const podId = await deployTune(user, 'Talkative');
  await vi.waitFor(
    async () => {
      serving.clock.advance({ seconds: 5 });
      expect(await readLog(podId)).toContain('model loaded');
    },
    { interval: 200 },
  );
  await serving.terminate(user, podId);
});

it('returns the end of a log larger than one statement can insert', async () => {
  const podId = await deployTune(user, 'Flooding');
  await write(...Array.from({ length: 30_000 }, (_, index) => String(index)));
  expect((await readLog(podId)).at(-1)).toBe('29999');
  await serving.terminate(user, podId);
});

it("shows of a shared server only lines from the deployment's lifetime, even if many later lines follow", async () => {
  const { clock, server } = serving;
  const neighbour = await server.signUp();
  const landlord = await serving.deploy(neighbour, starter.assetId);
  await serving.untilRunning(neighbour, landlord);
  await write('before');
  clock.advance({ seconds: 1 });
  const podId = await serving.deploy(user, starter.assetId);
  await serving.untilRunning(user, podId);
  await write('meanwhile');
  await serving.terminate(user, podId);
  clock.advance({ seconds: 1 });
  for (const line of ['after', 'and', 'after']) await write(line);
  const lines = await readLog(podId, 3);
  expect(lines).toContain('meanwhile');
  expect(lines).not.toContain('before');
  expect(lines).not.toContain('after');
  await serving.terminate(neighbour, landlord);
});

it("leaves out lines about other users' adapters, and local paths", async () => {
  const { server } = serving;
  const { db, config } = server.services;
  const neighbour = await server.signUp();
  const [mine, theirs] = [await insertTune(user, 'Mine'), await insertTune(neighbour, 'Theirs')];
  const revisionOf = async (assetId: string, { userId }: TestUser) =>
    (await readRevision(db, { assetId, userId })).revision.id;
  const pods = [await serving.deploy(user, mine), await serving.deploy(neighbour, theirs)] as const;
  await serving.untilRunning(user, pods[0]);
  await serving.untilRunning(neighbour, pods[1]);
  const inputs = path.join(config.dataDir, 'workloads/7/work/inputs');
  const own = await revisionOf(mine, user);
  await write(`loading adapter '${inputs}/adapter-${own}'`);
  await write(`loading adapter '${inputs}/adapter-${await revisionOf(theirs, neighbour)}'`);
  await write(`loading model '${inputs}/base_model/gguf/model-f16.gguf'`);
  const lines = await readLog(pods[0]);
  expect(lines.filter((line) => line.startsWith('loading'))).toEqual([
    `loading adapter 'adapter-${own}'`,
    "loading model 'model-f16.gguf'",
  ]);
  await serving.terminate(user, pods[0]);
  await serving.terminate(neighbour, pods[1]);
});

it('shows for a failed deployment the log of the server that could not load it', async () => {
  const { stub, server } = serving;
  const file = path.join(server.services.config.dataDir, 'workloads/7/work/inputs/adapter/adapter.gguf');
  let open = () => {};
  stub.gate = new Promise((resolve) => {
    open = resolve;
  });
  stub.failure = `cannot read ${file}`;
  // There must be only one running server, whose log was written above.
  await vi.waitFor(() => expect(serving.driver.running()).toEqual([]));
  const podId = await serving.deploy(user, await insertTune(user, 'Burnt'));
  await write('magic number is wrong');
  open();
  await vi.waitFor(
    async () => {
      expect(await serving.status(user, podId)).toMatchObject({
        status: 'failed',
        reason: 'cannot read adapter.gguf',
      });
    },
    { interval: 50 },
  );
  stub.failure = null;
  expect(await readLog(podId)).toContain('magic number is wrong');
});
