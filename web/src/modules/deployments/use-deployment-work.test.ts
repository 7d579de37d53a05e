import { expect, it } from 'vitest';
import { workOf } from './use-deployment-work.ts';

const READY = '2026-01-01T00:00:00.000Z';
const ENDED = '2026-01-01T01:00:00.000Z';
const deployment: Parameters<typeof workOf>[0] = {
  kind: 'text',
  pod_id: 'p1',
  title: 'Crumb',
  status: 'deploying',
  reason: 'No memory',
  stop_reason: null,
  progress: 70,
  ready_at: null,
  terminated_at: null,
  cost_so_far: '0',
};
const work = (changed: Partial<Parameters<typeof workOf>[0]>) =>
  workOf({ ...deployment, ...changed }, { link: undefined, terminate: () => undefined });
const endOf = (changed: Partial<Parameters<typeof workOf>[0]>) => work(changed)[0]?.end;

it('a deployment is in progress until its first answer', () => {
  expect(endOf({ status: 'queued' })).toBeNull();
  expect(endOf({ status: 'deploying' })).toBeNull();
  expect(endOf({ status: 'running', ready_at: READY })).toEqual({
    kind: 'success',
    title: 'Model deployment completed successfully!',
  });
  // Waking is not a start.
  expect(endOf({ status: 'deploying', ready_at: READY })?.kind).toBe('success');
});

it('reports how a failed start ended and its cost', () => {
  expect(endOf({ status: 'failed', terminated_at: ENDED })).toEqual({
    kind: 'failure',
    title: 'Model deployment failed',
    description: 'No memory. You were not charged.',
  });
  const terminated = { reason: 'Terminated by you', terminated_at: ENDED };
  expect(endOf({ ...terminated, status: 'terminated' })).toEqual({
    kind: 'success',
    title: 'Crumb was terminated',
    description: 'You were not charged.',
  });
});

it('a usable deployment is not listed as work; its end is announced unless the user terminated it', () => {
  const running = { status: 'running', ready_at: READY } as const;
  expect(work(running)[1]).toMatchObject({ isUnlisted: true, end: null });
  expect(work({ ...running, status: 'terminated', terminated_at: ENDED })).toHaveLength(1);
  const stopped = work({
    ...running,
    status: 'terminated',
    terminated_at: ENDED,
    stop_reason: 'credits',
    reason: 'You ran out of credit.',
    cost_so_far: '5',
  });
  expect(stopped[1]).toMatchObject({
    id: work(running)[1]?.id,
    end: {
      kind: 'warning',
      title: 'Crumb was stopped',
      description: 'You ran out of credit. You were charged $0.20.',
    },
  });
});

it('a Wan deployment has its own messages for the end of its start', () => {
  const wan = { kind: 'wan' } as const;
  expect(endOf({ ...wan, status: 'running', ready_at: READY })).toEqual({
    kind: 'success',
    title: 'WAN-2 model is ready for video generation!',
  });
  expect(endOf({ ...wan, status: 'failed', terminated_at: ENDED })).toEqual({
    kind: 'failure',
    title: 'WAN-2 deployment failed',
    description: 'No memory. You were not charged.',
  });
  expect(endOf({ ...wan, status: 'failed', reason: '', terminated_at: ENDED })?.description).toMatch(
    /^Deployment failed\. Please try again\./,
  );
  expect(endOf({ ...wan, status: 'deploying' })).toBeNull();
});
