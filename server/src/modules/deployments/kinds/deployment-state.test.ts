import { describe, expect, it } from 'vitest';
import type { WorkloadState } from '../../../engine/model/workload.ts';
import { type DeploymentState, showDeployment } from './deployment-state.ts';

const live = { terminatedAt: null, failed: false, sleeping: false, reason: '' };
const carrier = { state: 'ready' as WorkloadState, reason: '', phase: null, done: null, total: null };
const ended = new Date('2026-01-01T12:00:00Z');

describe('showDeployment', () => {
  it.each<[WorkloadState, DeploymentState, number]>([
    ['queued', 'queued', 0],
    ['scheduling', 'deploying', 10],
    ['pulling', 'deploying', 20],
    ['starting', 'deploying', 70],
    ['ready', 'running', 100],
    ['degraded', 'degraded', 100],
    // If a live deployment's workload has ended, the deployment gets another one or also ends. Its own row
    // decides.
    ['stopping', 'deploying', 100],
    ['completed', 'deploying', 100],
    ['stopped', 'deploying', 100],
    ['failed', 'deploying', 0],
  ])("maps a live deployment's carrier state %s to %s", (state, shown, progress) => {
    const reason = 'Said by the engine.';
    expect(showDeployment(live, { ...carrier, state, reason })).toEqual({
      state: shown,
      reason,
      progress,
      phase: state,
    });
  });

  it('shows a live deployment without a workload as queued', () => {
    expect(showDeployment(live, null)).toMatchObject({ state: 'queued', progress: 0, phase: 'queued' });
  });

  it("shows progress by the bytes pulled, and the runtime's phase", () => {
    const pulling = { ...carrier, state: 'pulling' as const, phase: 'pulling inputs', done: 30, total: 60 };
    expect(showDeployment(live, pulling)).toMatchObject({ progress: 45, phase: 'pulling inputs' });
  });

  it.each([
    ['failed', { ...live, failed: true, terminatedAt: ended, sleeping: true }, 0],
    ['terminated', { ...live, terminatedAt: ended, sleeping: true }, 100],
    ['sleeping', { ...live, sleeping: true }, 100],
  ] as const)(
    "returns %s with the deployment's own reason, whatever its carrier's state",
    (state, deployment, progress) => {
      const reason = 'Said by the deployment.';
      const shown = showDeployment({ ...deployment, reason }, { ...carrier, reason: 'Said by the engine.' });
      expect(shown).toEqual({ state, reason, progress, phase: state });
    },
  );
});
