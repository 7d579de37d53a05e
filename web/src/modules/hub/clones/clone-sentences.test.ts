import type { Clone } from '@bakehouse/contract/hub/clones';
import { expect, test } from 'vitest';
import { endOf, phaseText } from './clone-sentences.ts';

const clone: Clone = {
  id: 'c1',
  repo_id: 'bakery/rye-7b',
  dataset_type: 'MODEL',
  revision: 'a'.repeat(40),
  status: 'COPYING',
  reason: '',
  progress: 25,
  files_total: 4,
  files_done: 1,
  bytes_total: 4 * 1024 ** 3,
  bytes_done: 1024 ** 3,
  bytes_per_second: 50 * 1024 ** 2,
  asset_id: null,
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:00.000Z',
  ended_at: null,
};

test("shows a clone's progress, speed and remaining time", () => {
  expect(phaseText(clone)).toBe('1.00 GB of 4.00 GB · 1 of 4 files · 50.00 MB/s · about 1 min left');
  expect(phaseText({ ...clone, status: 'LISTING', bytes_total: null })).toBe('Listing the files');
  expect(phaseText({ ...clone, status: 'QUEUED' })).toBe('Waiting for its turn');
  expect(phaseText({ ...clone, bytes_per_second: 0 })).toBe('1.00 GB of 4.00 GB · 1 of 4 files');
  expect(endOf(clone)).toBeNull();
});

test('a failed clone is reported as an error of its dataset or model', () => {
  const failed = {
    ...clone,
    status: 'FAILED',
    reason: 'Hugging Face cannot be reached from this server',
  } as const;
  expect(endOf(failed)).toEqual({
    kind: 'failure',
    title: 'Error cloning the model',
    description: 'bakery/rye-7b: Hugging Face cannot be reached from this server',
  });
  expect(endOf({ ...failed, dataset_type: 'RAW' })?.title).toBe('Error cloning the dataset');
  expect(endOf({ ...clone, status: 'COMPLETED' })).toEqual({
    kind: 'success',
    title: 'bakery/rye-7b has been cloned',
  });
  expect(endOf({ ...clone, status: 'CANCELLED' })?.kind).toBe('info');
});
