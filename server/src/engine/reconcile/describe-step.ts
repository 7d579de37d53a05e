import type { Workload } from '../model/workload.ts';
import type { Step } from './plan.ts';

/** Returns a step as a log line; null for steps that do not matter to operators. */
export function describeStep(
  { behaviour, title, attempt }: Pick<Workload, 'behaviour' | 'title' | 'attempt'>,
  step: Step,
): string | null {
  const kind = behaviour === 'run' ? 'Run' : 'Model server';
  // A workload without a name has its kind as title.
  const name = title === kind ? `A ${kind.toLowerCase()}` : `${kind} '${title}'`;
  switch (step.do) {
    case 'start':
      return attempt === 0 ? `${name} starts` : `${name} starts again`;
    case 'requeue':
    case 'kill':
    case 'degrade':
      return `${name}: ${step.reason}`;
    case 'end':
      return `${name} ${endings[step.state]}${step.state === 'failed' ? `: ${step.reason}` : ''}`;
    default:
      return null;
  }
}

const endings = { completed: 'has completed', stopped: 'has stopped', failed: 'has failed' } as const;
