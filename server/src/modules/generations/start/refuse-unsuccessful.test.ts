import { expect, test } from 'vitest';
import { refuseUnsuccessful } from './refuse-unsuccessful.ts';

test.each([
  [{ state: 'failed', refused: true }, 'invalid_request'],
  [{ state: 'failed', refused: false }, 'unavailable'],
  [{ state: 'cancelled', refused: false }, 'conflict'],
] as const)('no client repeats by itself what has ended as %o', (ended, code) => {
  const refused = () => refuseUnsuccessful({ ...ended, reason: 'fal did not finish within 10 minutes' });
  expect(refused).toThrow(
    expect.objectContaining({
      code,
      shouldRetry: false,
      publicMessage: 'fal did not finish within 10 minutes. Nothing was charged',
    }),
  );
});

test('a picture is no refusal', () => {
  expect(() => refuseUnsuccessful({ state: 'completed', reason: '', refused: false })).not.toThrow();
});
