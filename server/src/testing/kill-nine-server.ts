import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '@bakehouse/contract/runtime/report';
import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import type { Driver } from '../engine/drivers/driver.ts';
import { createFakeDriver, type Script } from '../engine/drivers/fake/fake-driver.ts';
import { goodData } from '../modules/fine-tuning/testing/test-run.ts';
import { prepareDatabase } from '../platform/db/setup/prepare-database.ts';
import { createLog } from '../platform/log.ts';
import { supervisePostgres } from '../platform/postgres/supervise-postgres.ts';
import type { Role } from '../roles.ts';

/*
 * The server for kill-nine.soak.test.ts and serverProcess: the whole program with the roles in its arguments.
 * Its machine runs scripts instead of trainers and ends with the process, like a node that is lost. Each
 * accepted batch of reports is written to the file `accepted` in the data folder: workload, attempt, and
 * number of the last report.
 */

const AGAIN_MS = 50;
const TRAINING_MS = 500;

/** Reports a short training and delivers a model. Repeats each call until it is accepted. */
const trainBriefly: Script = async ({ workloadId, attempt, server }, { killed }) => {
  const call = async (method: string, part: string, body: string, headers: Record<string, string>) => {
    for (;;) {
      const answer = await fetch(`${server.base_url}/runtime/v1/workloads/${workloadId}/${part}`, {
        method,
        headers: { authorization: `Bearer ${server.token}`, ...headers },
        body,
        signal: killed,
      }).catch(() => null);
      killed.throwIfAborted();
      if (answer?.ok) return answer;
      await sleep(AGAIN_MS);
    }
  };
  const report = async (...reports: object[]) => {
    const post = (some: object[]) =>
      call('POST', 'reports', JSON.stringify({ reports: some }), { 'content-type': 'application/json' });
    const { accepted_seq } = (await (await post([])).json()) as { accepted_seq: number };
    const at = new Date().toISOString();
    await post(reports.map((one, index) => ({ ...one, seq: accepted_seq + index + 1, at }) as Report));
    await appendFile(
      path.join(process.env.BAKEHOUSE_DATA_DIR ?? '', 'accepted'),
      `${workloadId} ${attempt} ${accepted_seq + reports.length}\n`,
    );
  };
  const step = (done: number) => ({ type: 'progress', done, total: 2, unit: 'steps', remaining_seconds: 1 });
  await report({ type: 'phase', phase: 'training' }, step(1));
  await sleep(TRAINING_MS);
  await report(step(2));
  const card = '# Made under fire';
  const sha256 = createHash('sha256').update(card).digest('hex');
  await call('PUT', 'artefacts/README.md', card, {
    'content-type': 'application/octet-stream',
    'x-content-sha256': sha256,
  });
  await report({
    type: 'result',
    files: [{ path: 'README.md', sha256, size_bytes: card.length }],
    summary: { eval_loss: 0.5 },
  });
  return 0;
};

const config = readConfig(process.env);
const log = createLog(config);
const databaseUrl =
  config.databaseUrl ?? (await supervisePostgres(path.join(config.dataDir, 'postgres'), log)).url;
await prepareDatabase(databaseUrl);
const app = await createApp({
  config,
  databaseUrl,
  log,
  driver: remembersStarts(
    createFakeDriver({ capacity: { 'cpu:run': config.cpuSlots }, script: trainBriefly }),
  ),
  readData: async () => goodData,
  roles: process.argv.slice(2) as Role[],
});
await app.start();
process.stdout.write('ready\n');

/**
 * After a kill, knows which attempts were started, like the local driver. Their processes ended with this
 * one.
 */
function remembersStarts(driver: Driver): Driver {
  const file = (workloadId: string, attempt: number) =>
    path.join(process.env.BAKEHOUSE_DATA_DIR ?? '', `started-${workloadId}-${attempt}`);
  return {
    ...driver,
    start: async (launch) => {
      await writeFile(file(launch.workloadId, launch.attempt), '');
      await driver.start(launch);
    },
    observe: async (workloadId, attempt) => {
      const observed = await driver.observe(workloadId, attempt);
      return observed.state === 'absent' && existsSync(file(workloadId, attempt))
        ? { state: 'ended', by: 'itself', exitCode: null, lastLine: null, folder: 'kept' }
        : observed;
    },
  };
}
