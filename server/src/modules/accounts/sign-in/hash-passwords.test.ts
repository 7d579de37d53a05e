import { expect, test } from 'vitest';
import { hashPasswords, runWithHashQueue } from './hash-passwords.ts';

test('client addresses take turns, and only an address with too many waiting calls is rejected', async () => {
  const begun: string[] = [];
  const { hash } = hashPasswords({
    hash: async (password) => {
      begun.push(password);
      return password;
    },
    verify: async () => true,
  });
  const flood = Array.from({ length: 100 }, (_, index) =>
    runWithHashQueue('office', () => hash(`office ${index}`)),
  );
  const other = runWithHashQueue('home', () => hash('home'));
  const ends = await Promise.allSettled(flood);
  expect(await other).toBe('home');
  expect(begun.indexOf('home')).toBeLessThan(4);
  const refused = ends.filter((end) => end.status === 'rejected');
  expect(refused).toHaveLength(80);
  expect(refused[0]?.reason).toMatchObject({ code: 'unavailable' });
  // After its calls have finished, the address is accepted again.
  await runWithHashQueue('office', () => hash('once more'));
});
