import { expect, it } from 'vitest';
import { runEndToast } from './use-run-work.ts';

const cancelled = {
  kind: 'text',
  state: 'cancelled',
  title: 'Baker',
  reason: 'Cancelled.',
  stop_reason: null,
  charged: '5',
} as const;

it('distinguishes reaching the ceiling from cancellation by the owner', () => {
  expect(runEndToast(cancelled)).toEqual({
    kind: 'info',
    title: 'Training Baker was cancelled',
    description: 'You were charged $0.20.',
  });
  const reason = 'The run reached its spending limit. The work was saved.';
  expect(runEndToast({ ...cancelled, reason, stop_reason: 'ceiling' })).toEqual({
    kind: 'warning',
    title: 'Training Baker stopped at its spending limit',
    description:
      'The run reached its spending limit. The work was saved. You were charged $0.20. You can resume it with a higher limit.',
  });
});

it('calls an export an export', () => {
  const exported = { ...cancelled, kind: 'export' } as const;
  expect(runEndToast(exported)?.title).toBe('Exporting Baker was cancelled');
  expect(runEndToast({ ...exported, state: 'completed' })?.title).toBe('Baker is ready');
});

it('shows why a run failed, and the charge if known', () => {
  const failed = { ...cancelled, state: 'failed', reason: 'Out of memory.' } as const;
  expect(runEndToast({ ...failed, charged: '0' })?.description).toBe('Out of memory. You were not charged.');
  expect(runEndToast({ ...failed, charged: null })?.description).toBe('Out of memory.');
});
