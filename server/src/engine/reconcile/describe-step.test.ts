import { expect, test } from 'vitest';
import { describeStep } from './describe-step.ts';

const run = { behaviour: 'run', title: 'Baker', attempt: 0 } as const;

test.each([
  [run, { do: 'start' }, "Run 'Baker' starts"],
  [{ ...run, attempt: 1 }, { do: 'start' }, "Run 'Baker' starts again"],
  [
    run,
    {
      do: 'requeue',
      reason: 'Its process has disappeared. It starts again in 5 s.',
      delaySeconds: 5,
      failed: true,
    },
    "Run 'Baker': Its process has disappeared. It starts again in 5 s.",
  ],
  [run, { do: 'end', state: 'completed', reason: 'Completed' }, "Run 'Baker' has completed"],
  [
    run,
    { do: 'end', state: 'failed', reason: 'The file holds no rows.' },
    "Run 'Baker' has failed: The file holds no rows.",
  ],
  [
    { ...run, behaviour: 'deployment' },
    { do: 'end', state: 'stopped', reason: '' },
    "Model server 'Baker' has stopped",
  ],
  [{ ...run, behaviour: 'deployment', title: 'Model server' }, { do: 'start' }, 'A model server starts'],
  [run, { do: 'adopt' }, null],
] as const)('%j, %j: %s', (workload, step, sentence) => {
  expect(describeStep(workload, step)).toBe(sentence);
});
