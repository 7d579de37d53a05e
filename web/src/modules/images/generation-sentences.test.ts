import type { Generation } from '@bakehouse/contract/generations';
import { expect, test } from 'vitest';
import { percentOf, phaseText, secondsTaken, timeText } from './generation-sentences.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
const generation = (changed: Partial<Generation>) =>
  ({
    state: 'queued',
    reason: '',
    position: null,
    step: 0,
    steps: 20,
    created_at: at(0).toISOString(),
    started_at: null,
    ended_at: null,
    ...changed,
  }) as Generation;

test.each([
  [{ position: 0 }, 'Next in the queue'],
  [{ position: 1 }, '1 picture ahead of yours'],
  [{ position: 3, reason: 'In the queue' }, '3 pictures ahead of yours'],
  [{}, 'Waiting for its turn'],
  [{ state: 'starting' as const }, 'Starting the model'],
  [{ state: 'starting' as const, reason: 'The model is loaded' }, 'The model is loaded'],
  [{ state: 'running' as const, step: 7 }, 'Step 7 of 20'],
  [{ state: 'failed' as const, reason: 'No memory.' }, 'No memory.'],
])('%j is described as %j', (changed, sentence) => {
  expect(phaseText(generation(changed))).toBe(sentence);
});

test('how far it is, is known once it is drawn', () => {
  expect(percentOf(generation({}))).toBeNull();
  expect(percentOf(generation({ state: 'running', step: 5 }))).toBe(25);
});

test('the time that is left comes from the steps that were seen', () => {
  const running = { state: 'running' as const, started_at: at(10).toISOString() };
  const first = { at: at(20), step: 1 };
  expect(timeText(generation({}), at(5), { at: at(5), step: 0 })).toBe('Waiting, 5 s so far');
  expect(timeText(generation({ ...running, step: 1 }), at(20), first)).toBe('10 s so far');
  expect(timeText(generation({ ...running, step: 5 }), at(28), first)).toBe('18 s so far, about 30 s left');
});

test('how long it took', () => {
  expect(secondsTaken(generation({ ended_at: at(9).toISOString() }))).toBeNull();
  expect(secondsTaken(generation({ started_at: at(4).toISOString(), ended_at: at(9).toISOString() }))).toBe(
    5,
  );
});
