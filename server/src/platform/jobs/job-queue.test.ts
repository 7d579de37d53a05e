import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import type { Services } from '../context.ts';
import { defineJob } from './define-job.ts';
import { openJobQueue } from './job-queue.ts';

const { db, url } = await testDatabase();
const log = pino({ level: 'silent' });
const services = { db, log } as unknown as Services;

const done: string[] = [];
let failures = 1;
const note = defineJob<{ word: string }>({
  name: 'test.note',
  run: async (_services, { word }) => void done.push(word),
});
const stumble = defineJob<{ word: string }>({
  name: 'test.stumble',
  run: async (_services, { word }) => {
    if (failures-- > 0) throw new Error('not yet');
    done.push(word);
  },
});
const hourly = defineJob({ name: 'test.hourly', schedule: '0 * * * *', run: async () => undefined });

const queue = await openJobQueue({ url, log, jobs: [note, stumble, hourly], works: true });
onFileEnd(queue.stop);
await queue.work(services);

describe('the job queue', () => {
  test('runs what a committed transaction has enqueued, and nothing of one that failed', async () => {
    const failing = db.transaction().execute(async (tx) => {
      await queue.enqueue(tx, note, { word: 'undone' });
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await db.transaction().execute((tx) => queue.enqueue(tx, note, { word: 'done' }));
    await vi.waitFor(() => expect(done).toEqual(['done']), { timeout: 10_000 });
  });

  test('tries a failed job again', async () => {
    await db.transaction().execute((tx) => queue.enqueue(tx, stumble, { word: 'second attempt' }));
    await vi.waitFor(() => expect(done).toContain('second attempt'), { timeout: 25_000, interval: 100 });
  });

  test('works off a backlog in batches', async () => {
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
