import { trainingParameters, type ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { expect, test, vi } from 'vitest';
import { deduplicateReads } from './deduplicate-reads.ts';
import type { DataToRead, ReadData } from './read-data.ts';

const report = { steps_total: 3 } as ValidateReport;
const as = (userId: string) =>
  ({ caller: { kind: 'user', userId, isOperator: false } }) as Parameters<ReadData>[0];

function input(sha256: string, more: Partial<DataToRead['spec']['parameters']> = {}): DataToRead {
  return {
    base: [],
    dataFile: { path: 'rows.csv', sha256 },
    validationFile: null,
    spec: {
      data: {
        file_path: 'rows.csv',
        format: null,
        input_column: 'question',
        output_column: 'answer',
        rejected_column: null,
        label_column: null,
        system_column: null,
        segmentation_method: 'regex',
        max_chunk_size: 512,
        stride: 50,
        min_segment_length: 15,
        validation_path: null,
        train_test_split: 0.8,
        seed: 42,
        date: '2026-11-20',
      },
      parameters: trainingParameters.parse({
        epochs: 1,
        learning_rate: 0.001,
        batch_size: 1,
        eval_batch_size: 1,
        gradient_accumulation_steps: 4,
        lora: { r: 8, alpha: 16, dropout: 0.05, target_modules: ['q_proj'] },
        ...more,
      }),
    },
  };
}

/** Returns a reader whose reads end when the test resolves them. */
function slowReader() {
  const ends: PromiseWithResolvers<ValidateReport>[] = [];
  const read = vi.fn<ReadData>(() => {
    const end = Promise.withResolvers<ValidateReport>();
    ends.push(end);
    return end.promise;
  });
  return { read, ends };
}

test('equal calls share a read, while it runs and after it', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read);
  const both = [shared(as('ada'), input('a')), shared(as('bob'), input('a', { learning_rate: 0.1 }))];
  await expect.poll(() => ends.length).toBe(1);
  ends[0]?.resolve(report);
  expect(await Promise.all(both)).toEqual([report, report]);
  expect(await shared(as('cy'), input('a'))).toBe(report);
  expect(read).toHaveBeenCalledOnce();
  void shared(as('cy'), input('a', { epochs: 2 }));
  await expect.poll(() => ends.length).toBe(2);
});

test('at most two reads run concurrently', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read);
  const all = ['a', 'b', 'c', 'd'].map((sha256) => shared(as(`reader of ${sha256}`), input(sha256)));
  await expect.poll(() => ends.length).toBe(2);
  ends[0]?.resolve(report);
  await all[0];
  await expect.poll(() => ends.length).toBe(3);
  for (const index of [1, 2]) ends[index]?.resolve(report);
  await expect.poll(() => ends.length).toBe(4);
});

test('the next call retries a failed read', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read);
  const failing = shared(as('ada'), input('a'));
  await expect.poll(() => ends.length).toBe(1);
  ends[0]?.reject(new Error('no memory'));
  await expect(failing).rejects.toThrow('no memory');
  void shared(as('ada'), input('a'));
  await expect.poll(() => ends.length).toBe(2);
});

test('one user reads one file at a time, without blocking other users', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read);
  void shared(as('ada'), input('a'));
  void shared(as('ada'), input('b'));
  void shared(as('bob'), input('c'));
  await expect.poll(() => ends.length).toBe(2);
  expect(read.mock.calls.map(([ctx]) => ctx.caller.userId)).toEqual(['ada', 'bob']);
  ends[0]?.resolve(report);
  await expect.poll(() => ends.length).toBe(3);
});

test('long reads are limited and do not block short ones', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read, 0);
  for (const user of ['mallory', 'mallet', 'trudy']) void shared(as(user), input(user));
  await expect.poll(() => ends.length).toBe(3);
  const quick = shared(as('ada'), input('a'));
  await expect.poll(() => ends.length).toBe(4);
  ends[3]?.resolve(report);
  expect(await quick).toBe(report);
});

test("one user's long files leave a slot for another user", async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read, 0);
  for (const sha256 of ['a', 'b']) void shared(as('mallory'), input(sha256)).catch(() => undefined);
  await expect.poll(() => read.mock.calls[1]?.[2]?.signal?.aborted).toBe(true);
  const long = shared(as('ada'), input('c'));
  await expect.poll(() => ends.length).toBe(3);
  // Another short read starts as soon as the first one has moved to a slot for long reads.
  void shared(as('ada'), input('d')).catch(() => undefined);
  await expect.poll(() => ends.length).toBe(4);
  expect(read.mock.calls[2]?.[2]?.signal?.aborted).toBe(false);
  ends[2]?.resolve(report);
  expect(await long).toBe(report);
});

test('a read is aborted if all its callers have disconnected, but not while one still waits', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read);
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const calls = [first, second].map(({ signal }) => shared(as('ada'), input('a'), { signal }));
  await expect.poll(() => ends.length).toBe(1);
  const signal = read.mock.calls[0]?.[2]?.signal;
  first.abort();
  expect(signal?.aborted).toBe(false);
  second.abort();
  expect(signal?.aborted).toBe(true);
  // A new caller starts another read, because the old one is being aborted.
  const later = shared(as('bob'), input('a'), { signal: third.signal });
  await expect.poll(() => ends.length).toBe(2);
  ends[0]?.reject(new Error('ended'));
  ends[1]?.resolve(report);
  await expect(Promise.all(calls)).rejects.toThrow('ended');
  expect(await later).toBe(report);
});

test('reports a full queue, per user and in total', async () => {
  const { read } = slowReader();
  const shared = deduplicateReads(read);
  for (let n = 0; n < 5; n += 1) void shared(as('ada'), input(`ada ${n}`));
  await expect(shared(as('ada'), input('one more'))).rejects.toMatchObject({
    code: 'unavailable',
    publicMessage: expect.stringContaining('Several of your files'),
  });
  for (let n = 0; n < 45; n += 1) void shared(as(`user ${n}`), input(`user ${n}`));
  await expect(shared(as('bob'), input('bob'))).rejects.toThrow('Many files are waiting');
});

test('all callers get the progress; callers that join later also get the sample', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read);
  const [ada, bob] = [vi.fn(), vi.fn()];
  const first = shared(as('ada'), input('a'), { onProgress: ada });
  await expect.poll(() => ends.length).toBe(1);
  const tell = read.mock.calls[0]?.[2]?.onProgress;
  tell?.({ rows_read: 1000, part: 0.1, sample: report });
  tell?.({ rows_read: 2000, part: 0.2, sample: null });
  const second = shared(as('bob'), input('a'), { onProgress: bob });
  expect(ada.mock.calls).toEqual([
    [{ rows_read: 1000, part: 0.1, sample: report }],
    [{ rows_read: 2000, part: 0.2, sample: report }],
  ]);
  expect(bob.mock.calls).toEqual([[{ rows_read: 2000, part: 0.2, sample: report }]]);
  ends[0]?.resolve(report);
  await Promise.all([first, second]);
});

test('a long read is aborted if no slot is free, and starts again when one is', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read, 0);
  const [, second] = ['mallory', 'mallet'].map((user) => shared(as(user), input(user)));
  await expect.poll(() => ends.length).toBe(2);
  const third = shared(as('trudy'), input('trudy'));
  await expect.poll(() => read.mock.calls[2]?.[2]?.signal?.aborted).toBe(true);
  ends[2]?.reject(new Error('ended'));
  ends[1]?.resolve(report);
  await second;
  await expect.poll(() => ends.length).toBe(4);
  ends[3]?.resolve(report);
  expect(await third).toBe(report);
});

test('users can have another file read while their long read runs', async () => {
  const { read, ends } = slowReader();
  const shared = deduplicateReads(read, 0);
  void shared(as('ada'), input('a'));
  await expect.poll(() => ends.length).toBe(1);
  const other = shared(as('ada'), input('b'));
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.resolve(report);
  expect(await other).toBe(report);
});
