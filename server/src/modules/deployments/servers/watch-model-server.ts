import { setTimeout as pause } from 'node:timers/promises';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Events } from '../../../platform/events/events.ts';
import { publishSignal } from '../../../platform/events/publish-change.ts';

/**
 * How often a waiting request polls. Polling is needed because a signal is lost if the database connection
 * breaks.
 */
const CHECK_EVERY_MS = 3_000;

function signalName(serverId: string): string {
  return `model-server:${serverId}`;
}

/** Step: tells requests in all processes that wait for this model server that it has changed. */
export function announceModelServer(tx: Transaction, serverId: string): Promise<void> {
  return publishSignal(tx, signalName(serverId));
}

export type ModelServerWatch = {
  serverId: string;
  /**
   * Resolves when the server has changed since the last call, or after the polling interval. Rejects when the
   * signal is aborted.
   */
  change: (signal: AbortSignal) => Promise<void>;
  stop: () => void;
};

/** Starts to listen immediately, so that no change is missed between two calls of `change`. */
export function watchModelServer(events: Pick<Events, 'onSignal'>, serverId: string): ModelServerWatch {
  let changed = new AbortController();
  const stop = events.onSignal(signalName(serverId), () => changed.abort());
  return {
    serverId,
    change: async (signal) => {
      signal.throwIfAborted();
      const either = AbortSignal.any([signal, changed.signal]);
      await pause(CHECK_EVERY_MS, undefined, { signal: either }).catch(() => signal.throwIfAborted());
      changed = new AbortController();
    },
    stop,
  };
}
