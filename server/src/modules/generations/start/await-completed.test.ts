import { expect, test } from 'vitest';
import { assertCompleted } from './await-completed.ts';

test.each([
  [{ state: 'failed', refused: true }, 'invalid_request'],
  [{ state: 'failed', refused: false }, 'unavailable'],
  [{ state: 'cancelled', refused: false }, 'conflict'],
] as const)('tells clients not to retry what ended as %o', (ended, code) => {
  const refused = () => assertCompleted({ ...ended, reason: 'fal did not finish within 10 minutes' });
  expect(refused).toThrow(
    expect.objectContaining({
      code,
      shouldRetry: false,
      publicMessage: 'fal did not finish within 10 minutes. Nothing was charged',
    }),
  );
});

test('accepts a completed generation', () => {
  expect(() => assertCompleted({ state: 'completed', reason: '', refused: false })).not.toThrow();
});
