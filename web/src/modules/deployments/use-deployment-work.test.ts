import type { Deployment } from '@bakehouse/contract/deployments';
import { expect, it } from 'vitest';
import { endOf, endOfImage } from './use-deployment-work.ts';

const pod = (status: Deployment['status'], ready_at: string | null = null) =>
  ({ title: 'Crumb', status, ready_at, reason: 'No memory.' }) as Deployment;
const READY = '2026-01-01T00:00:00.000Z';

it('a deployment is under way until its first answer', () => {
  expect(endOf(pod('queued'))).toBeNull();
  expect(endOf(pod('deploying'))).toBeNull();
  expect(endOf(pod('running', READY))).toEqual({
    kind: 'success',
    title: 'Model deployment completed successfully!',
  });
  // Waking up is no way to the first answer.
  expect(endOf(pod('deploying', READY))?.kind).toBe('success');
});

it('says how it ended before that', () => {
  expect(endOf(pod('failed'))).toEqual({
    kind: 'failure',
    title: 'Model deployment failed',
    description: 'No memory.',
  });
  expect(endOf(pod('terminated'))).toEqual({ kind: 'info', title: 'Crumb was terminated' });
});

it('so is one of an image model', () => {
  const image = (status: 'deploying' | 'READY' | 'failed', ready_at: string | null = null) =>
    endOfImage({ status, ready_at, reason: 'No memory.' });
  expect(image('deploying')).toBeNull();
  expect(image('READY', READY)?.title).toBe('Model deployment completed successfully!');
  expect(image('failed')).toMatchObject({ title: 'Model deployment failed', description: 'No memory.' });
});
