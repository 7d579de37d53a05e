import { cx } from '../lib/cx.ts';
import { Badge, type Tone } from './badge.tsx';

/** All states of runs, deployments, drafts, transactions, preparations and pins. */
const states: Record<string, { tone: Tone; moving?: boolean }> = {
  queued: { tone: 'neutral', moving: true },
  waiting: { tone: 'neutral' },
  pending: { tone: 'neutral', moving: true },
  starting: { tone: 'info', moving: true },
  deploying: { tone: 'info', moving: true },
  stopping: { tone: 'warn', moving: true },
  pinning: { tone: 'info', moving: true },
  running: { tone: 'good' },
  training: { tone: 'good' },
  ready: { tone: 'good' },
  completed: { tone: 'good' },
  saved: { tone: 'good' },
  pinned: { tone: 'good' },
  sleeping: { tone: 'neutral' },
  degraded: { tone: 'warn' },
  stopped: { tone: 'warn' },
  cancelling: { tone: 'warn', moving: true },
  cancelled: { tone: 'neutral' },
  terminated: { tone: 'neutral' },
  failed: { tone: 'bad' },
};

/** A status label whose dot pulses in transitional states. `moving` overrides that. */
export function StatusBadge({ status, moving }: { status: string; moving?: boolean }) {
  const state = states[status] ?? { tone: 'neutral' };
  return (
    <Badge tone={state.tone}>
      <span
        aria-hidden
        className={cx(
          'size-1.5 rounded-full bg-current',
          (moving ?? state.moving) && 'animate-[shimmer_1.4s_ease-in-out_infinite]',
        )}
      />
      {status.charAt(0).toUpperCase() + status.slice(1)}
    </Badge>
  );
}
