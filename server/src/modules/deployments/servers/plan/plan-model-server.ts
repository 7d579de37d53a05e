import { IN_ALL_MS_MAX } from '../../../serving/ask/request-deadline.ts';

/** One that is replaced has as long as a request may take: nobody's answer is cut for another's fine-tune. */
const REPLACED_S = IN_ALL_MS_MAX / 1000;
/** Nobody is served while one makes room, and a request waits ten minutes for its model. */
const MAKES_ROOM_S = 300;

/**
 * Decides what a model server needs next. Pure: the caller reads the rows and carries the
 * actions out in one transaction.
 */
export type ServerWorkload = {
  id: string;
  /** `waiting`: no slot is free for it. `ended` covers all that ends or is about to. */
  state: 'waiting' | 'coming' | 'ready' | 'ended';
  /** Keys of the adapters that it carries (revision ids). */
  adapters: string[];
};

export type ModelServerView = {
  /** Answers now, or is the first to come. */
  current: ServerWorkload | null;
  /** Comes up beside it with another set of adapters. */
  next: ServerWorkload | null;
  /** Adapters that it shall carry, and that one which is started does. */
  wantedAdapters: string[];
  /** Whether anybody needs it: an awake deployment, or recent use of the base. */
  wanted: boolean;
};

export type ModelServerAction =
  /** With the time that it has for the answers in flight; 0: the few seconds of any stop. */
  | { type: 'stop'; workloadId: string; drainSeconds: number }
  | { type: 'start'; as: 'current' | 'next' }
  | { type: 'promote'; workloadId: string }
  | { type: 'forget'; which: 'current' | 'next' };

export function planModelServer(view: ModelServerView): ModelServerAction[] {
  const { current, next, wantedAdapters, wanted } = view;
  const carries = (workload: ServerWorkload) =>
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
  // The traffic moves first: the old one then drains what it had begun.
  if (next?.state === 'ready') {
    const successor: ModelServerAction = { type: 'start', as: 'next' };
    return [
      { type: 'promote', workloadId: next.id },
      ...stop(current, REPLACED_S),
      ...(carries(next) ? [] : [successor]),
    ];
  }

  const coming = lives(next) ? next : null;
  if (!current || !lives(current)) {
    // A next one that is already coming takes over when it is ready.
    if (coming && carries(coming)) return [];
    return [...stop(next), ...forget('next', next), { type: 'start', as: 'current' }];
  }
  // Adapters that nobody wants any more do no harm: they leave with the next restart.
  if (carries(current)) return [...stop(next), ...forget('next', next)];
  if (!coming || !carries(coming)) {
    return [...stop(next), { type: 'start', as: 'next' }];
  }
  // There is no room for two: the old one makes it, and a short gap is the price.
  return coming.state === 'waiting' ? stop(current, MAKES_ROOM_S) : [];
}

function forget(which: 'current' | 'next', workload: ServerWorkload | null): ModelServerAction[] {
  return workload ? [{ type: 'forget', which }] : [];
}
