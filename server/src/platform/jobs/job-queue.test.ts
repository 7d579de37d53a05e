import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import type { Services } from '../context.ts';
import { type AnyJob, defineJob } from './define-job.ts';
import { type JobQueue, measureJobs, openJobQueue } from './job-queue.ts';

const { db, url } = await testDatabase();
const log = pino({ level: 'silent' });
const services = { db, log } as unknown as Services;

const done: string[] = [];
let failures = 1;
/** For each attempt, whether `isLast` was set. */
const attempts: (boolean | undefined)[] = [];
const note = defineJob<{ word: string }>({
  name: 'test.note',
  run: async (_services, { word }) => void done.push(word),
});
const stumble = defineJob<{ word: string }>({
  name: 'test.stumble',
  retries: 1,
  run: async (_services, { word }, _signal, isLast) => {
    attempts.push(isLast);
    if (failures-- > 0) throw new Error('not yet');
    done.push(word);
  },
});
const release = Promise.withResolvers<void>();
const hang = defineJob<{ word: string }>({
  name: 'test.hang',
  run: async (_services, { word }) => {
    if (word === 'hangs') await release.promise;
    done.push(word);
  },
});
const lost: string[] = [];
const die = defineJob<{ word: string }>({
  name: 'test.die',
  retries: 0,
  run: () => Promise.reject(new Error('killed')),
  onLost: async (_services, { word }) => void lost.push(word),
});
const hourly = defineJob({ name: 'test.hourly', schedule: '0 * * * *', run: async () => undefined });

const queue = await openJobQueue({ url, log, jobs: [note, stumble, hang, die, hourly], works: true });
onFileEnd(queue.stop);
await queue.work(services);

describe('the job queue', () => {
  test('runs jobs of a committed transaction, and none of a failed one', async () => {
    const failing = db.transaction().execute(async (tx) => {
      await queue.enqueue(tx, note, { word: 'undone' });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await db.transaction().execute((tx) => queue.enqueue(tx, note, { word: 'done' }));
    await vi.waitFor(() => expect(done).toEqual(['done']));
  });

  test('retries a failed job, and marks the last attempt', async () => {
    await db.transaction().execute((tx) => queue.enqueue(tx, stumble, { word: 'second attempt' }));
    await vi.waitFor(() => expect(done).toContain('second attempt'), { interval: 100 });
    expect(attempts).toEqual([false, true]);
  });

  test('deletes the schedule of a job that this version does not have', async () => {
    const own = await testDatabase();
    const list = async (jobs: AnyJob[]) => {
      const opened = await openJobQueue({ url: own.url, log, jobs, works: false });
      await opened.stop();
      const { rows } = await sql<{ name: string }>`select name from pgboss.schedule`.execute(own.db);
      return rows.map(({ name }) => name);
    };
    const renamed = defineJob({ ...hourly, name: 'test.each-hour' });
    expect(await list([hourly])).toEqual(['test.hourly']);
    expect(await list([renamed])).toEqual(['test.each-hour']);
  });

  test('records outcomes by kind, as metrics of all processes', async () => {
    const registry = new Registry();
    measureJobs(registry, db);
    const metrics = await registry.metrics();
    expect(metrics).toContain('bakehouse_jobs_failed_total{job="test.stumble"} 1');
    const at = /bakehouse_job_last_success_timestamp_seconds\{job="test.stumble"\} (\S+)/.exec(metrics)?.[1];
    expect(Math.abs(Number(at) - Date.now() / 1000)).toBeLessThan(60);
    expect(metrics).not.toContain('test.hourly');
  });

  test('calls `onLost` for a job whose last attempt died', async () => {
    await db.transaction().execute((tx) => queue.enqueue(tx, die, { word: 'gone' }));
    await vi.waitFor(() => expect(lost).toEqual(['gone']), { interval: 100 });
  });

  test('a hanging job does not block others of its kind', async () => {
    await db.transaction().execute((tx) => queue.enqueue(tx, hang, { word: 'hangs' }));
    await db.transaction().execute(async (tx) => {
      for (const word of ['a', 'b', 'c', 'd', 'e', 'f']) await queue.enqueue(tx, hang, { word });
    });
    try {
      const others = expect.arrayContaining(['a', 'b', 'c', 'd', 'e', 'f']);
      await vi.waitFor(() => expect(done).toEqual(others), { interval: 100 });
      expect(done).not.toContain('hangs');
    } finally {
      release.resolve();
    }
  });

  test('updates a queue of an earlier version to match the current declaration', async () => {
    const slow = { ...note, timeoutSeconds: 120, retries: 1 };
    const next = await openJobQueue({ url, log, jobs: [slow], works: false });
    await next.stop();
    const { rows } = await sql<{ retry_limit: number; expire_seconds: number; deletion_seconds: number }>`
      select retry_limit, expire_seconds, deletion_seconds from pgboss.queue where name = ${note.name}`.execute(
      db,
    );
    expect(rows).toEqual([{ retry_limit: 1, expire_seconds: 120, deletion_seconds: 86_400 }]);
  });

  test('updates a queue that gains or loses its schedule, and retains waiting jobs', async () => {
    const own = await testDatabase();
    const declared = async (job: AnyJob, during?: (queue: JobQueue) => Promise<void>) => {
      const opened = await openJobQueue({ url: own.url, log, jobs: [job], works: false });
      await during?.(opened);
      await opened.stop();
      const { rows } = await sql<{ policy: string; waiting: number }>`
        select policy, (select count(*)::int from pgboss.job where job.name = queue.name) as waiting
        from pgboss.queue where name = ${job.name}`.execute(own.db);
      return rows;
    };
    const enqueueTwo = async (opened: JobQueue) => {
      for (const word of ['one', 'two'])
        await own.db.transaction().execute((tx) => opened.enqueue(tx, note, { word }));
    };
    expect(await declared(note, enqueueTwo)).toEqual([{ policy: 'standard', waiting: 2 }]);
    expect(await declared({ ...note, schedule: '0 * * * *' })).toEqual([{ policy: 'stately', waiting: 2 }]);
    expect(await declared(note)).toEqual([{ policy: 'standard', waiting: 2 }]);
  });

  test('processes a backlog in batches', async () => {
    const words = Array.from({ length: 120 }, (_, n) => `w${n}`);
    await db.transaction().execute(async (tx) => {
      for (const word of words) await queue.enqueue(tx, note, { word });
    });
    await vi.waitFor(() => expect(done).toEqual(expect.arrayContaining(words)), {
      timeout: 20_000,
      interval: 100,
    });
  });
});
