import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAsset } from '@bakehouse/contract/assets';
import { cancelReading, type FineTuneValidation, validateFineTune } from '@bakehouse/contract/fine-tuning';
import { listRuns } from '@bakehouse/contract/runs';
import type { ValidateProgress, ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { getWork } from '@bakehouse/contract/work';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import { unavailable } from '../../../platform/errors.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase, untilWaiting } from '../../../testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { emptySafetensors, goodData } from '../testing/test-run.ts';
import { deduplicateReads } from '../validation/deduplicate-reads.ts';
import type { DataToRead, ReadData } from '../validation/read-data.ts';
import { readingLimits } from './limits.ts';
import { lockReadings, upsertReading } from './queries.ts';
import { readInBackground, readingJob } from './read-in-background.ts';
import { deleteOldReadingsJob } from './readings.ts';

// Shorten the waits.
const usual = { ...readingLimits };
Object.assign(readingLimits, { shortMs: 1_000, estimateAfterMs: 200, handoverMs: 3_000 });
onFileEnd(async () => {
  Object.assign(readingLimits, usual);
});

const sample: ValidateReport = { ...goodData, rows_total: 1_000_000, train_tokens: 400_000_000 };
const whole: ValidateReport = { ...sample, rows_total: 990_000, train_tokens: 399_000_000 };

/** A read that has reported an estimate and ends when the test resolves it. */
type Begun = { end: PromiseWithResolvers<ValidateReport>; options: NonNullable<Parameters<ReadData>[2]> };
const begun: Begun[] = [];
const read: ReadData = (_ctx, _input, options = {}) => {
  const end = Promise.withResolvers<ValidateReport>();
  options.signal?.addEventListener('abort', () => end.reject(options.signal?.reason as Error));
  begun.push({ end, options });
  options.onProgress?.({ rows_read: 10_000, part: 0.01, sample });
  return end.promise;
};

// Two servers use this database one after the other, so it is closed at the end of the file.
const { url, close } = await testDatabase();
onFileEnd(close);
const database = { url, close: async () => undefined };
const openServer = () => testServer({ database, readData: deduplicateReads(read), roles: ['web', 'worker'] });
let server: TestServer = await openServer();
const user = await server.signUp('Ada');
const bob = await server.signUp('Bob');
const datasetId = await create(user, 'RAW', { 'rows.csv': 'question,answer\na,b\n' });
const baseId = await create(user, 'MODEL', { 'config.json': '{}', 'model.safetensors': emptySafetensors() });
let epochs = 0;
beforeEach(async () => {
  // End the readings of the previous test, which may have started late.
  await vi.waitFor(async () => {
    for (const { end } of begun) end.resolve(whole);
    const { rows } = await sql`
      select from pgboss.job where name = ${readingJob.name} and state in ('created', 'active', 'retry')`.execute(
      server.services.db,
    );
    expect(rows).toEqual([]);
  });
  begun.length = 0;
  // The cache key depends on the epochs, so each test reads other data.
  epochs += 1;
});
onFileEnd(async () => {
  for (const { end } of begun) end.resolve(whole);
});

async function create(as: TestUser, type: 'RAW' | 'MODEL', files: Record<string, string | Buffer>) {
  const body = { dataset_type: type, title: `my ${type}`, user_id: as.userId };
  const id = await server.request(createAsset, { body }, { as });
  for (const [name, bytes] of Object.entries(files)) {
    const form = new FormData();
    form.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
    const headers = { 'x-api-key': as.apiKey };
    const sent = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
      method: 'POST',
      headers,
      body: form,
    });
    expect(sent.status).toBe(200);
  }
  return id;
}

const fields = () => ({ input_column: 'question', output_column: 'answer', epochs });
const validate = (): Promise<FineTuneValidation> =>
  server.request(
    validateFineTune,
    { body: { dataset_id: datasetId, model_id: baseId, file_name: 'rows.csv', ...fields() } },
    { as: user },
  );
const readings = async (as = user) => (await server.request(getWork, {}, { as })).readings;
const readingOf = async (id: string | undefined) =>
  (await readings()).find(({ reading_id }) => reading_id === id);

/**
 * Reports progress of the newest read. The background job starts one if the first read has ended before the
 * job joins it.
 */
const reportProgress = () =>
  begun.at(-1)?.options.onProgress?.({ rows_read: 500_000, part: 0.5, sample: null });

test('a long file is estimated immediately, then read in the background; the report is then used for all users', async () => {
  const first = await validate();
  expect(first.critical_errors).toEqual([]);
  expect(first.data?.rows_total).toBe(1_000_000);
  expect(first.reading).toMatchObject({
    file_name: 'rows.csv',
    state: 'reading',
    rows_read: 10_000,
    progress: 1,
  });
  const id = first.reading?.reading_id;
  // A repeated call returns the same reading.
  expect((await validate()).reading?.reading_id).toBe(id);
  await vi.waitFor(async () => {
    reportProgress();
    expect(await readingOf(id)).toMatchObject({ rows_read: 500_000, progress: 50 });
  });
  expect(await readings(bob)).toEqual([]);
  begun.at(-1)?.end.resolve(whole);
  await vi.waitFor(async () => expect((await readingOf(id))?.state).toBe('done'));
  const reads = begun.length;
  const last = await validate();
  expect(last.reading).toBeNull();
  expect(last.data?.rows_total).toBe(990_000);
  expect(begun.length).toBe(reads);
}, 40_000);

test('saves progress at most once per interval, in one transaction at a time', async () => {
  const { db } = server.services;
  const id = (await validate()).reading?.reading_id ?? '';
  const row = () =>
    sql<{ xmin: string }>`select xmin::text, * from data_readings where id = ${id} for update`;
  const most = await db.transaction().execute(async (tx) => {
    await row().execute(tx);
    const waiting = async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        tx,
      );
      return rows.length;
    };
    await vi.waitFor(async () => {
      reportProgress();
      expect(await waiting()).toBeGreaterThan(0);
    });
    await sleep(2_500);
    return waiting();
  });
  expect(most).toBe(1);
  await vi.waitFor(async () => {
    // Report again: the job may have waited for the row lock, and joined the read only now.
    reportProgress();
    expect((await readingOf(id))?.rows_read).toBe(500_000);
  });
  const written = await row().execute(db);
  await sleep(2_500);
  expect((await row().execute(db)).rows).toEqual(written.rows);
}, 60_000);

test("concurrent calls do not exceed a user's limit", async () => {
  const { db } = server.services;
  const others = ['one', 'two', 'three'];
  const { validating } = await db.transaction().execute(async (tx) => {
    await lockReadings(tx, user.userId);
    const asked = validate();
    await untilWaiting(db);
    for (const dataName of others) {
      const dataFile = { path: 'rows.csv' };
      await upsertReading(tx, {
        userId: user.userId,
        dataName,
        datasetId,
        input: { dataFile } as DataToRead,
        progress: { rows_read: 0, part: 0 } as ValidateProgress,
        at: new Date(),
      });
    }
    return { validating: asked };
  });
  await validating;
  const running = (await readings()).filter(({ state }) => state === 'reading');
  expect(running).toHaveLength(readingLimits.ownInBackground);
  await db.deleteFrom('data_readings').where('data_name', 'in', others).execute();
});

test('stops reading when it is cancelled', async () => {
  const id = (await validate()).reading?.reading_id ?? '';
  const as = { as: bob };
  const refused = server.request(cancelReading, { params: { readingId: id } }, as);
  await expect(refused).rejects.toMatchObject({ status: 404 });
  const cancelled = await server.request(cancelReading, { params: { readingId: id } }, { as: user });
  expect(cancelled.state).toBe('cancelled');
  await vi.waitFor(() => expect(begun[0]?.options.signal?.aborted).toBe(true));
}, 40_000);

test('a failed reading reports why', async () => {
  const id = (await validate()).reading?.reading_id;
  await vi.waitFor(async () => {
    // The job may have started another read after the first one failed.
    for (const { end } of begun) end.reject(new Error('something of ours'));
    expect((await readingOf(id))?.state).toBe('failed');
  });
  expect((await readingOf(id))?.reason).toMatch(
    /^rows.csv could not be read because of an error on our side/,
  );
}, 40_000);

test('a reading that fails for a temporary reason is retried; it fails with the last attempt', async () => {
  const id = (await validate()).reading?.reading_id ?? '';
  await vi.waitFor(() => expect(begun.length).toBe(1));
  const hindered: ReadData = () => Promise.reject(unavailable('Python is being prepared'));
  const job = readInBackground(hindered);
  const attempt = (isLast: boolean) =>
    job.run(server.services, { readingId: id }, new AbortController().signal, isLast);
  await expect(attempt(false)).rejects.toThrow('Python is being prepared');
  expect((await readingOf(id))?.state).toBe('reading');
  await attempt(true);
  expect(await readingOf(id)).toMatchObject({ state: 'failed', reason: 'Python is being prepared' });
}, 40_000);

test('a reading leaves no listener on the process-wide signal', async () => {
  const id = (await validate()).reading?.reading_id ?? '';
  const { signal: closing } = new AbortController();
  let during: unknown[] = [];
  const readWhole: ReadData = async () => {
    during = getEventListeners(closing, 'abort');
    return whole;
  };
  const job = readInBackground(readWhole);
  await job.run({ ...server.services, closing }, { readingId: id }, new AbortController().signal, true);
  expect([during.length, getEventListeners(closing, 'abort').length]).toEqual([1, 0]);
}, 40_000);

test('a reading gets a reason if its last attempt was killed', async () => {
  const id = (await validate()).reading?.reading_id ?? '';
  const job = readInBackground(read);
  await job.onLost?.(server.services, { readingId: id });
  const reason = 'Reading rows.csv was interrupted at every attempt. Please try again.';
  expect(await readingOf(id)).toMatchObject({ state: 'failed', reason });
  // A reading that has ended does not change.
  await job.onLost?.(server.services, { readingId: id });
}, 40_000);

test('each request gets an estimate; the oldest reading is cancelled if there are too many', async () => {
  const states = async () => (await readings()).slice(0, 4).map(({ state }) => state);
  const first = (await validate()).reading?.reading_id;
  for (let n = 0; n < 3; n += 1) {
    epochs += 1;
    expect((await validate()).data?.rows_total).toBe(1_000_000);
  }
  expect(await states()).toEqual(['reading', 'reading', 'reading', 'cancelled']);
  expect((await readingOf(first))?.state).toBe('cancelled');
}, 60_000);

test('two equal concurrent calls share one reading', async () => {
  const [one, other] = await Promise.all([validate(), validate()]);
  expect(one.reading?.reading_id).toBeTruthy();
  expect(other.reading?.reading_id).toBe(one.reading?.reading_id);
}, 40_000);

test('a run starts with the estimate, without waiting for the whole file to be read', async () => {
  const { cost_estimate } = await validate();
  const body = {
    dataset_type: 'MODEL' as const,
    title: 'early',
    user_id: user.userId,
    fine_tune_payload: {
      asset_id: datasetId,
      base_model: baseId,
      model_name: 'early',
      file_name: 'rows.csv',
      user_id: user.userId,
      // Limit the hold: the quote for a million rows exceeds the account's credits.
      ceiling: '1',
      ...fields(),
    },
  };
  await server.request(createAsset, { body }, { as: user });
  const { runs } = await server.request(listRuns, { query: {} }, { as: user });
  expect(runs[0]?.quote).toEqual(cost_estimate.quote);
}, 40_000);

test('a reading starts over after a server restart', async () => {
  const id = (await validate()).reading?.reading_id;
  await vi.waitFor(() => expect(begun.length).toBe(1));
  await server.close();
  server = await openServer();
  await vi.waitFor(() => expect(begun.length).toBe(2), { interval: 200 });
  begun[1]?.end.resolve(whole);
  await vi.waitFor(async () => expect((await readingOf(id))?.state).toBe('done'));
}, 90_000);

test('stores reports for a month', async () => {
  const { services } = server;
  await services.db
    .updateTable('data_readings')
    .set({ ended_at: new Date() })
    .where('state', '<>', 'reading')
    .execute();
  const forget = (days: number) => {
    const clock = { now: () => new Date(Date.now() + days * 24 * 3_600_000) };
    return deleteOldReadingsJob.run({ ...services, clock }, {}, new AbortController().signal);
  };
  const count = async () =>
    (await services.db.selectFrom('data_readings').select('id').where('state', '<>', 'reading').execute())
      .length;
  const before = await count();
  expect(before).toBeGreaterThan(0);
  await forget(29);
  expect(await count()).toBe(before);
  await forget(31);
  expect(await count()).toBe(0);
});
