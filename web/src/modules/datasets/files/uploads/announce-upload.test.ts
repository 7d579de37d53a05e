import { beforeEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../../../lib/api/credentials.ts';
import { notify } from '../../../../ui/notify.ts';
import { announceUpload } from './announce-upload.ts';
import type { UploadOutcome } from './uploads.ts';

const said = vi.fn<(kind: string, title: string, options?: object) => void>();
for (const kind of ['success', 'info', 'warning', 'failure'] as const)
  vi.spyOn(notify, kind).mockImplementation((...words): undefined => {
    said(kind, ...words);
  });

beforeEach(() => {
  said.mockReset();
  setCredentials({ userId: 'ada', apiKey: 'bk_ada' });
});

const outcome = (done: number, ...errors: string[]) =>
  ({
    done: Array.from({ length: done }, () => ({})),
    failed: errors.map((error) => ({ path: 'b.csv', error })),
    paused: [],
  }) as unknown as UploadOutcome;

test.each([
  [outcome(1), false, ['success', 'File uploaded']],
  [outcome(1200), false, ['success', '1,200 files uploaded']],
  [outcome(2), true, ['warning', '2 files uploaded, but not all of it can be trained on']],
  [outcome(0), false, ['info', 'Upload cancelled']],
  [
    outcome(1, 'b.csv is empty', 'Failed to upload file.'),
    false,
    ['failure', 'Failed to upload file.', { description: 'b.csv is empty' }],
  ],
  [
    outcome(0, 'The disk is full'),
    false,
    ['failure', 'Failed to upload file.', { description: 'b.csv: The disk is full' }],
  ],
] as const)('%j', (ended, hasProblems, words) => {
  announceUpload(ended, hasProblems);
  expect(said.mock.calls).toEqual([words]);
});

test('does not announce uploads that a sign-out cancelled', () => {
  setCredentials(null);
  announceUpload(outcome(1));
  expect(said).not.toHaveBeenCalled();
});

test('does not announce paused uploads', () => {
  announceUpload({ done: [], failed: [], paused: [{ path: 'b.csv' }] } as unknown as UploadOutcome);
  expect(said).not.toHaveBeenCalled();
});
