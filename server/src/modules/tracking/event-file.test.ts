import { expect, test } from 'vitest';
import { eventFile } from './event-file.ts';

const at = new Date(1_795_900_000_500);

/** The same two events, written by TensorBoard's own writer (tensorboard 2.21.0). */
const BY_TENSORBOARD =
  'GAAAAAAAAACjf0siCQAAIJjQwtpBGg1icmFpbi5FdmVudDoyNikpPTMAAAAAAAAADKcgVgkAACCY0MLaQRCsAiolChEKCnRyYWluL2xvc3MVAADA' +
  'PwoQCglldmFsL2xvc3MVAACAPpm970Q=';

test('writes points exactly as TensorBoard does', () => {
  const points = [{ step: 300, at, values: { loss: 1.5, eval_loss: 0.25 } }];
  expect(eventFile({ startedAt: at, points }).toString('base64')).toBe(BY_TENSORBOARD);
});

test('writes only the version for a run without points', () => {
  const bytes = eventFile({ startedAt: at, points: [] });
  expect(bytes.toString('base64')).toBe(
    Buffer.from(BY_TENSORBOARD, 'base64').subarray(0, 40).toString('base64'),
  );
});
