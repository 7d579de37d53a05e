import { IN_ALL_MS_MAX } from '../../../serving/ask/request-deadline.ts';

/**
 * A replaced server may drain for the maximum duration of a request: replacing an adapter must not cut
 * another user's response.
 */
const REPLACED_S = IN_ALL_MS_MAX / 1000;
/**
 * Shorter, because nothing is served while a server drains to free its slot, and requests wait ten minutes at
 * most.
 */
const MAKES_ROOM_S = 300;

/**
 * Decides what a model server needs next. The caller reads the rows and applies the actions in one
 * transaction.
 */
export type ServerWorkload = {
  id: string;
  /** `waiting`: no slot is free for it. `ended` includes workloads that are stopping. */
  state: 'waiting' | 'coming' | 'ready' | 'ended';
  /** Keys of the adapters that it carries (revision ids). */
  adapters: string[];
};

export type ModelServerView = {
  /** Serves now, or is the first to start. */
  current: ServerWorkload | null;
  /** A successor that is starting with another set of adapters. */
  next: ServerWorkload | null;
  /** Adapters that it must carry; a newly started workload carries exactly these. */
  wantedAdapters: string[];
  /** True if an awake deployment or recent use of the base needs it. */
  wanted: boolean;
};

export type ModelServerAction =
  /** `drainSeconds` is the time for responses in flight; 0 means the few seconds of any stop. */
  | { type: 'stop'; workloadId: string; drainSeconds: number }
  | { type: 'start'; as: 'current' | 'next' }
  | { type: 'promote'; workloadId: string }
  | { type: 'forget'; which: 'current' | 'next' };

export function planModelServer(view: ModelServerView): ModelServerAction[] {
  const { current, next, wantedAdapters, wanted } = view;
  const carriesAll = (workload: ServerWorkload) =>
    wantedAdapters.every((key) => workload.adapters.includes(key));
  const lives = (workload: ServerWorkload | null) => workload !== null && workload.state !== 'ended';
  const stop = (workload: ServerWorkload | null, answersWithinS = 0): ModelServerAction[] => {
    if (!workload || !lives(workload)) return [];
    const drainSeconds = workload.state === 'ready' ? answersWithinS : 0;
    return [{ type: 'stop', workloadId: workload.id, drainSeconds }];
  };

  if (!wanted) {
    return [...stop(current), ...forget('current', current), ...stop(next), ...forget('next', next)];
  }
  // Move traffic first; the old workload then drains.
  if (next?.state === 'ready') {
    const successor: ModelServerAction = { type: 'start', as: 'next' };
    return [
      { type: 'promote', workloadId: next.id },
      ...stop(current, REPLACED_S),
      ...(carriesAll(next) ? [] : [successor]),
    ];
  }

  const coming = lives(next) ? next : null;
  if (!current || !lives(current)) {
    // A successor that is already starting takes over when it is ready.
    if (coming && carriesAll(coming)) return [];
    return [...stop(next), ...forget('next', next), { type: 'start', as: 'current' }];
  }
  // Superfluous adapters are harmless: the next restart drops them.
  if (carriesAll(current)) return [...stop(next), ...forget('next', next)];
  if (!coming || !carriesAll(coming)) {
    return [...stop(next), { type: 'start', as: 'next' }];
  }
  // No slot for both: stop the old one first and accept a short gap.
  return coming.state === 'waiting' ? stop(current, MAKES_ROOM_S) : [];
}

function forget(which: 'current' | 'next', workload: ServerWorkload | null): ModelServerAction[] {
  return workload ? [{ type: 'forget', which }] : [];
}
