import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { chatCompletions } from '@bakehouse/contract/chat';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { readConfig } from '../config.ts';
import { createFakeDriver } from '../engine/drivers/fake/fake-driver.ts';
import { closeLostWindowsJob } from '../modules/billing/jobs/usage-jobs.ts';
import { sealTransfers } from '../modules/billing/verification/chain.ts';
import { verifyLedger } from '../modules/billing/verification/verify-ledger.ts';
import { stubModelServer } from '../modules/deployments/testing/stub-model-server.ts';
import { insertStarter } from '../modules/deployments/testing/test-models.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { serverProcess } from '../testing/server-process.ts';
import { startS3Server } from '../testing/servers/s3-server.ts';
import { testClient } from '../testing/test-client.ts';
import { testDatabase } from '../testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

const STARTER = 'starter-model';
const REPLICAS = 3;
const USERS = 250;
/** Concurrent streams per user. Two thousand in a soak, most of which wait for a slot at the model server. */
const AT_ONCE = 8;
const KILLS = 30;
const BETWEEN_MS = 10_000;
const TOKEN_MS = 30;

type Replica = Awaited<ReturnType<typeof serverProcess>> & { kills: number };
/** How a stream ended (null if it is complete), and whether its replica was killed during the stream. */
type Told = { breakage: string | null; wasKilled: boolean };

/**
 * Reads one stream to its end. Returns null if its replica was not running, or rejected it because too many
 * calls wait.
 */
async function stream(replica: Replica, user: TestUser): Promise<Told | null> {
  const { kills } = replica;
  const messages = [{ role: 'user' as const, content: 'What do you bake?' }];
  const body = { model: STARTER, messages, stream: true };
  const answer = await testClient(replica.url)
    .send(chatCompletions, { body }, { as: user })
    .catch(() => null);
  if (!answer) return replica.kills === kills ? null : { breakage: 'no answer', wasKilled: true };
  if (answer.status === 503) return null;
  const text = await answer.text().catch(String);
  const isWhole = answer.status === 200 && text.includes('[DONE]') && !text.includes('"error"');
  const breakage = isWhole ? null : `${answer.status} ${text.slice(-200)}`;
  return { breakage, wasKilled: replica.kills !== kills };
}

test('when one of three replicas is killed, only its own streams break, and only output that was sent is charged', {
  timeout: 3_600_000,
}, async () => {
  const database = await testDatabase();
  const s3Server = await startS3Server();
  onFileEnd(s3Server.close);
  for (const [name, value] of Object.entries(s3Server.owner)) vi.stubEnv(name, value);
  onFileEnd(async () => void vi.unstubAllEnvs());
  const bucket = { BAKEHOUSE_S3_BUCKET: 'loaves', BAKEHOUSE_S3_ENDPOINT: s3Server.endpoint };
  const s3 = new S3Client({ endpoint: s3Server.endpoint, region: 'us-east-1', forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: 'loaves' }));

  const stub = stubModelServer();
  stub.answer = 'hold';
  stub.says = () => 'Good bread, still warm. '.repeat(4);
  Object.defineProperty(stub, 'held', { get: () => sleep(TOKEN_MS) });
  // The server that runs the model server is never killed.
  const driver = createFakeDriver({ capacity: { 'cpu:deployment': 2 }, script: stub.script });
  const config = { s3: readConfig(bucket).s3, reader: 'none' };
  const roles = ['web' as const, 'worker' as const, 'reconciler' as const];
  const main = await testServer({ database, driver, config, roles });
  await insertStarter(main.services, STARTER);
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, async (): Promise<Replica> => {
      const settings = { ...s3Server.owner, ...bucket, BAKEHOUSE_READER: 'none' };
      const secret = { BAKEHOUSE_SECRET: main.services.config.secret ?? '' };
      const one = await serverProcess(database.url, ['web'], { ...settings, ...secret });
      expect(await one.start()).toBe('');
      return { ...one, kills: 0 };
    }),
  );

  const users: TestUser[] = [];
  // One after the other, because concurrent sign-ups would be rate-limited.
  while (users.length < USERS) users.push(await main.signUp());
  const told: Told[] = [];
  let isEnding = false;
  const asking = users.flatMap((user, number) =>
    Array.from({ length: AT_ONCE }, async (_, place) => {
      for (let turn = number + place; !isEnding; turn += 1) {
        const one = await stream(replicas[turn % REPLICAS] as Replica, user);
        if (one) told.push(one);
        else await sleep(200);
      }
    }),
  );
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(BETWEEN_MS);
    const victim = replicas[kill % REPLICAS] as Replica;
    victim.kills += 1;
    await victim.kill();
    // Streams that started during the kill may have reached the killed replica too.
    victim.kills += 1;
    await sleep(BETWEEN_MS / 4);
    expect(await victim.start()).toBe('');
  }
  await sleep(BETWEEN_MS);
  isEnding = true;
  await Promise.all(asking);

  expect(told.filter(({ breakage, wasKilled }) => breakage !== null && !wasKilled)).toEqual([]);
  expect(told.filter(({ breakage }) => breakage === null).length).toBeGreaterThan(USERS * AT_ONCE);
  expect(told.filter(({ breakage }) => breakage !== null).length).toBeGreaterThan(0);

  await Promise.all(replicas.map(({ kill }) => kill()));
  await expectChargedOnce(main);
});

/** When all replicas have ended, output that was sent is charged once. */
async function expectChargedOnce({ app, services }: TestServer): Promise<void> {
  const { db } = services;
  await app.usage.closeIdle();
  await sql`update usage_leaders set lease_until = clock_timestamp() - interval '1 second'`.execute(db);
  await closeLostWindowsJob.run(services, {}, services.closing);
  const { rows } = await sql<{ written: bigint; charged: bigint }>`
    select (select sum(amount_micro)::bigint from usage_events) as written,
      (select sum(amount)::bigint from ledger_transfers where kind = 'charge') as charged`.execute(db);
  expect(rows[0]?.charged).toBe(rows[0]?.written);
  expect(rows[0]?.charged).toBeGreaterThan(0n);
  await sealTransfers(db);
  const report = await verifyLedger(db);
  expect(report.checks.filter((check) => !check.ok)).toEqual([]);
  expect(report.openHolds).toBe(0);
}
