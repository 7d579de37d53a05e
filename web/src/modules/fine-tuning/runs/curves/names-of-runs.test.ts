import { expect, it } from 'vitest';
import { namesOfRuns } from './names-of-runs.ts';

const run = (title: string, minute: number) => ({
  title,
  created_at: new Date(2026, 10, 20, 6, minute, 30).toISOString(),
});

it('distinct titles are shown alone', () => {
  expect(namesOfRuns([run('Rye', 5), run('Spelt', 5)])).toEqual(['Rye', 'Spelt']);
});

it('equal titles get their time, and a number within the same minute', () => {
  expect(namesOfRuns([run('Rye', 5), run('Spelt', 5), run('Rye', 7)])).toEqual([
    'Rye (20 Nov 2026, 06:05)',
    'Spelt',
    'Rye (20 Nov 2026, 06:07)',
  ]);
  expect(namesOfRuns([run('Rye', 5), run('Rye', 5), run('Rye', 7)])).toEqual([
    'Rye (20 Nov 2026, 06:05) 1',
    'Rye (20 Nov 2026, 06:05) 2',
    'Rye (20 Nov 2026, 06:07)',
  ]);
});
