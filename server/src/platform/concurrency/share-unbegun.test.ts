import { expect, test, vi } from 'vitest';
import { shareUnbegun } from './share-unbegun.ts';

test('who asks for the same at once gets one answer, and who asks while it is under way gets another', async () => {
  const share = shareUnbegun<number>();
  const first = Promise.withResolvers<number>();
  const work = vi.fn(() => Promise.resolve(2)).mockReturnValueOnce(first.promise);
  const together = [share('a', work), share('a', work)];
  await vi.waitFor(() => expect(work).toHaveBeenCalledTimes(1));
  const later = [share('a', work), share('a', work)];
  expect(await Promise.all(later)).toEqual([2, 2]);
  first.resolve(1);
  expect(await Promise.all(together)).toEqual([1, 1]);
  expect(work).toHaveBeenCalledTimes(2);
});

test('keys are apart, and an error is shared and forgotten', async () => {
  const share = shareUnbegun<string>();
  const away = () => Promise.reject(new Error('away'));
  const answers = await Promise.allSettled([
    share('a', away),
    share('a', away),
    share('b', () => Promise.resolve('b')),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(await share('a', () => Promise.resolve('back'))).toBe('back');
});
