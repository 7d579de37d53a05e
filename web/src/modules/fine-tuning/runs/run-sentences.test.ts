import { describe, expect, it } from 'vitest';
import {
  cancelQuestion,
  epochText,
  extrapolateRun,
  isBeyondCeiling,
  memoryText,
  phaseText,
  secondsToCeiling,
  stepText,
  tabTitle,
  timeText,
} from './run-sentences.ts';
import { displayState } from './run-state.ts';

const running = {
  state: 'running',
  phase: 'training',
  stop_reason: null,
  reason: '',
  step: 65,
  elapsed_seconds: 125,
  remaining_seconds: 43,
  started_at: '2026-01-01T00:00:00.000Z',
} as const;
const fresh = {
  ...running,
  state: 'starting',
  step: 0,
  elapsed_seconds: 0,
  remaining_seconds: null,
} as const;

const sentencesOf = (run: Parameters<typeof timeText>[0] & Parameters<typeof phaseText>[0]) => [
  displayState(run),
  phaseText(run),
  timeText(run),
];

it('shows the used memory next to the estimate', () => {
  const memory_bytes = 2 * 1024 ** 3;
  expect(memoryText({ memory_bytes, summary: null })).toBe('2.00 GB estimated');
  expect(memoryText({ memory_bytes, summary: { peak_memory_bytes: 1.5 * 1024 ** 3 } })).toBe(
    '1.50 GB at its peak, 2.00 GB estimated',
  );
  expect(memoryText({ memory_bytes: null, summary: { size_bytes: 1 } })).toBeNull();
});

it('a cancelled run that its owner did not cancel is shown as stopped', () => {
  const cancelled = { state: 'cancelled', phase: null, stop_reason: null } as const;
  expect(displayState(cancelled)).toBe('cancelled');
  expect(displayState({ ...cancelled, stop_reason: 'ceiling' })).toBe('stopped');
});

it('advances the time of a running run between reports', () => {
  expect(timeText(extrapolateRun(running, 20))).toBe('2 min 25 s so far, about 20 s left');
  expect(extrapolateRun({ ...running, remaining_seconds: 20 }, 25).remaining_seconds).toBe(0);
  // After a longer silence the run isn't working.
  expect(extrapolateRun(running, 500)).toEqual(extrapolateRun(running, 30));
  expect(extrapolateRun(fresh, 20)).toEqual(fresh);
  // Uncharged phases aren't counted.
  const asking = { ...running, phase: 'asking both models' };
  expect(extrapolateRun(asking, 20)).toEqual(asking);
});

it('shows the step as soon as the total is known', () => {
  expect(stepText({ step: 1_200, steps_total: 12_000 })).toBe('Step 1,200 of 12,000');
  expect(stepText({ step: 0, steps_total: 0 })).toBeUndefined();
});

it('the cancel question names what is saved and charged', () => {
  expect(cancelQuestion({ ...running, kind: 'text' }).description).toContain(
    'You pay for the time used so far',
  );
  expect(cancelQuestion({ ...fresh, kind: 'text' }).description).toContain('You are not charged');
  expect(cancelQuestion({ ...running, kind: 'export' }).description).toContain('Nothing is saved');
});

it('the tab title shows the progress and the outcome', () => {
  expect(tabTitle({ ...running, title: 'Crumb', progress: 41.7 })).toBe('41% · Crumb');
  expect(tabTitle({ ...running, state: 'completed', title: 'Crumb', progress: 100 })).toBe(
    'Completed · Crumb',
  );
});

describe('badge, phase and time are consistent', () => {
  const free = 'Charged from the first step on';
  it.each([
    [
      { ...fresh, state: 'queued', phase: null, started_at: null },
      'queued',
      'Waiting for its turn',
      'Not started yet',
    ],
    [{ ...fresh, phase: null }, 'starting', 'Starting', free],
    [{ ...fresh, phase: 'pulling inputs' }, 'starting', 'Fetching its files', free],
    [{ ...fresh, phase: 'reading data' }, 'starting', 'Reading the dataset', free],
    [{ ...fresh, phase: 'loading model' }, 'starting', 'Loading the model', free],
    [{ ...fresh, phase: 'kneading' }, 'starting', 'Starting', free],
    [{ ...fresh, phase: 'evaluating' }, 'starting', 'Measuring the base model first', free],
    [fresh, 'running', 'Running the first step', free],
    [{ ...running, elapsed_seconds: 0 }, 'running', 'Training', 'Just started, about 40 s left'],
    [running, 'running', 'Training', '2 min 5 s so far, about 40 s left'],
    [{ ...running, phase: 'evaluating' }, 'running', 'Evaluating', '2 min 5 s so far, about 40 s left'],
    [
      { ...running, phase: 'saving', remaining_seconds: null },
      'running',
      'Saving the model',
      '2 min 5 s so far',
    ],
    [
      { ...running, phase: 'uploading', remaining_seconds: null },
      'running',
      'Uploading the model',
      '2 min 5 s so far',
    ],
    [
      { ...running, phase: 'asking both models', remaining_seconds: null },
      'running',
      'Comparing both models',
      '2 min 5 s so far, this part is not charged',
    ],
    [{ ...fresh, state: 'stopping' }, 'stopping', 'Cancelling', 'Not started yet'],
    [{ ...running, state: 'stopping' }, 'stopping', 'Saving its progress', '2 min 5 s so far'],
  ] as const)('%o', (run, ...expected) => {
    expect(sentencesOf(run)).toEqual(expected);
  });

  it('shows why a run waits, and continues its time after a pause', () => {
    const reason = 'Waiting for the CPU, next in line.';
    expect(sentencesOf({ ...running, state: 'queued', phase: null, reason })).toEqual([
      'queued',
      reason,
      '2 min 5 s so far',
    ]);
    expect(sentencesOf({ ...running, state: 'starting' })).toEqual([
      'running',
      'Continuing from its last checkpoint',
      '2 min 5 s so far, charged from the next step on',
    ]);
  });
});

it.each([
  [0, 0, '1 of 3'],
  [9, 30, '1 of 3'],
  [10, 30, '2 of 3'],
  [30, 30, '3 of 3'],
])('step %i of %i is in epoch %s', (step, steps_total, text) => {
  expect(epochText({ step, steps_total, parameters: { epochs: 3 } })).toBe(text);
});

it.each([
  // Half of the steps cost half of the ceiling, so the run will just finish.
  [{ cost_so_far: '1', ceiling: '2' }, null],
  [{ cost_so_far: '1.5', ceiling: '2' }, 20],
  // Work beyond the ceiling is free.
  [{ cost_so_far: '2', ceiling: '2' }, 0],
  [{ cost_so_far: '1.5', ceiling: '2', elapsed_seconds: 10 }, null],
  [{ cost_so_far: '1.5', ceiling: '2', remaining_seconds: null }, null],
  [{ cost_so_far: '1.5', ceiling: '2', state: 'stopping' }, null],
  // The last step may finish even above the ceiling.
  [{ cost_so_far: '1.5', ceiling: '2', step: 9 }, null],
  // It doesn't stop at its ceiling.
  [{ cost_so_far: '1.5', ceiling: '2', stops_at_ceiling: false }, null],
] as const)('a run with %o reaches its ceiling in %s s, before its end', (run, seconds) => {
  const half = {
    state: 'running',
    step: 5,
    steps_total: 10,
    elapsed_seconds: 60,
    remaining_seconds: 60,
    stops_at_ceiling: true,
  } as const;
  expect(secondsToCeiling({ ...half, ...run })).toBe(seconds);
});

it.each([
  [{ step: 9, cost_so_far: '2' }, true],
  [{ step: 10, cost_so_far: '2' }, true],
  [{ step: 8, cost_so_far: '2' }, true],
  [{ step: 0, cost_so_far: '2' }, false],
  [{ step: 9, cost_so_far: '1.9' }, false],
  [{ step: 8, cost_so_far: '2', stops_at_ceiling: true }, false],
  [{ step: 9, cost_so_far: '2', stops_at_ceiling: true }, true],
] as const)('a run of 10 steps with %o continues beyond its ceiling of 2: %s', (run, expected) => {
  const late = {
    state: 'running',
    steps_total: 10,
    elapsed_seconds: 60,
    remaining_seconds: 0,
    ceiling: '2',
    stops_at_ceiling: false,
  } as const;
  expect(isBeyondCeiling({ ...late, ...run })).toBe(expected);
});
