import type { Generation } from '@bakehouse/contract/generations';
import { expect, test } from 'vitest';
import { percentOf, phaseText, secondsTaken, timeText, workText } from './generation-sentences.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
const generation = (changed: Partial<Generation>) =>
  ({
    provider: 'own',
    state: 'queued',
    reason: '',
    step: 0,
    steps: 20,
    created_at: at(0).toISOString(),
    started_at: null,
    ended_at: null,
    ...changed,
  }) as Generation;

test.each([
  [{ reason: 'Next in the queue' }, 'Next in the queue'],
  [{ position: 0, reason: 'fal is busy. Trying again' }, 'fal is busy. Trying again'],
  [{}, 'Waiting for its turn'],
  [{ state: 'starting' as const }, 'Starting the model'],
  [{ state: 'starting' as const, reason: 'The model is loaded' }, 'The model is loaded'],
  [{ state: 'running' as const, step: 7 }, 'Step 7 of 20'],
  [{ provider: 'upstream' as const, state: 'starting' as const, steps: 1 }, 'Generating'],
  [{ provider: 'upstream' as const, state: 'running' as const, steps: 1 }, 'Generating'],
  [
    { provider: 'upstream' as const, state: 'running' as const, steps: 1, reason: 'fal is generating it' },
    'fal is generating it',
  ],
  [{ state: 'failed' as const, reason: 'No memory.' }, 'No memory.'],
])('%j is described as %j', (changed, sentence) => {
  expect(phaseText(generation(changed))).toBe(sentence);
});

test('shows progress only once generation has started', () => {
  expect(percentOf(generation({}))).toBeNull();
  expect(percentOf(generation({ state: 'running', step: 5 }))).toBe(25);
  expect(percentOf(generation({ provider: 'upstream', state: 'running', steps: 1 }))).toBeNull();
});

test('a service counts as generating from the request on, in the announcement and in the time', () => {
  const asked = generation({ provider: 'upstream', state: 'starting', started_at: at(10).toISOString() });
  expect([workText(asked), workText(asked, true)]).toEqual(['Generating', 'Editing']);
  expect(timeText(asked, at(15), { at: at(10), step: 0 })).toBe('5 s so far');
  const own = generation({ state: 'starting', started_at: at(10).toISOString() });
  expect(workText(own)).toBe('Starting the model');
  expect(timeText(own, at(15), { at: at(10), step: 0 })).toBe('Waiting, 15 s so far');
});

test('estimates the remaining time from the observed steps', () => {
  const running = { state: 'running' as const, started_at: at(10).toISOString() };
  const first = { at: at(20), step: 1 };
  expect(timeText(generation({}), at(5), { at: at(5), step: 0 })).toBe('Waiting, 5 s so far');
  expect(timeText(generation({ ...running, step: 1 }), at(20), first)).toBe('10 s so far');
  expect(timeText(generation({ ...running, step: 5 }), at(28), first)).toBe('18 s so far, about 30 s left');
});

test('shows how long it took', () => {
  expect(secondsTaken(generation({ ended_at: at(9).toISOString() }))).toBeNull();
  expect(secondsTaken(generation({ started_at: at(4).toISOString(), ended_at: at(9).toISOString() }))).toBe(
    5,
  );
});
