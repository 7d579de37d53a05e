import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import { expect, test, vi } from 'vitest';
import type { DataToRead, ReadData } from './read-data.ts';
import { shareReads } from './share-reads.ts';

const report = { steps_total: 3 } as ValidateReport;
const as = (userId: string) =>
  ({ caller: { kind: 'user', userId, isOperator: false } }) as Parameters<ReadData>[0];

function input(sha256: string, more: Partial<DataToRead['spec']['parameters']> = {}): DataToRead {
  return {
    base: [],
    dataFile: { path: 'rows.csv', sha256 },
    spec: {
      data: {
        file_path: 'rows.csv',
        input_column: 'question',
        output_column: 'answer',
        segmentation_method: 'regex',
        max_chunk_size: 512,
        stride: 50,
        min_segment_length: 15,
        train_test_split: 0.8,
        seed: 42,
        date: '2026-11-20',
      },
      parameters: {
        epochs: 1,
        learning_rate: 0.001,
        batch_size: 1,
        eval_batch_size: 1,
        gradient_accumulation_steps: 4,
        lora: { r: 8, alpha: 16, dropout: 0.05, target_modules: ['q_proj'] },
        ...more,
      },
    },
  };
}

/** A reader whose reads end when they are told to. */
function slowReader() {
  const ends: PromiseWithResolvers<ValidateReport>[] = [];
  const read = vi.fn<ReadData>(() => {
    const end = Promise.withResolvers<ValidateReport>();
    ends.push(end);
    return end.promise;
  });
  return { read, ends };
}

test('equal calls share one read, in flight and after it', async () => {
  const { read, ends } = slowReader();
  const shared = shareReads(read);
  const both = [shared(as('ada'), input('a')), shared(as('bob'), input('a', { learning_rate: 0.1 }))];
  await expect.poll(() => ends.length).toBe(1);
  ends[0]?.resolve(report);
  expect(await Promise.all(both)).toEqual([report, report]);
  expect(await shared(as('cy'), input('a'))).toBe(report);
  expect(read).toHaveBeenCalledOnce();
  void shared(as('cy'), input('a', { epochs: 2 }));
  await expect.poll(() => ends.length).toBe(2);
});

test('not more than two read at once', async () => {
  const { read, ends } = slowReader();
  const shared = shareReads(read);
  const all = ['a', 'b', 'c', 'd'].map((sha256) => shared(as('ada'), input(sha256)));
  await expect.poll(() => ends.length).toBe(2);
  ends[0]?.resolve(report);
  await all[0];
  await expect.poll(() => ends.length).toBe(3);
  for (const index of [1, 2]) ends[index]?.resolve(report);
  await expect.poll(() => ends.length).toBe(4);
});

test('a read that fails is tried again by the next call', async () => {
  const { read, ends } = slowReader();
  const shared = shareReads(read);
  const failing = shared(as('ada'), input('a'));
  await expect.poll(() => ends.length).toBe(1);
  ends[0]?.reject(new Error('no memory'));
  await expect(failing).rejects.toThrow('no memory');
  void shared(as('ada'), input('a'));
  await expect.poll(() => ends.length).toBe(2);
});
