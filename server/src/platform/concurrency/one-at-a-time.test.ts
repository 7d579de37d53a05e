import { expect, test } from 'vitest';
import { runAllSteps } from './one-at-a-time.ts';

test('a failed step does not prevent later steps, and its error is thrown at the end', async () => {
  const taken: string[] = [];
  const take = (name: string, error?: Error) => async () => {
    await Promise.resolve();
    taken.push(name);
    if (error) throw error;
  };
  const away = new Error('the database is away');
  await expect(runAllSteps([take('drain', away), take('close')])).rejects.toBe(away);
  expect(taken).toEqual(['drain', 'close']);
  const both = runAllSteps([take('drain', away), take('close', new Error('twice'))]);
  await expect(both).rejects.toMatchObject({ errors: [away, { message: 'twice' }] });
});
