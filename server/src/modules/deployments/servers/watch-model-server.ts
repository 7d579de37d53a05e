import { setTimeout as pause } from 'node:timers/promises';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Events } from '../../../platform/events/events.ts';
import { publishSignal } from '../../../platform/events/publish-change.ts';

/** Polling interval of a waiting request, because a signal may be lost with its connection. */
const LOOK_EVERY_MS = 3_000;

function signalName(serverId: string): string {
  return `model-server:${serverId}`;
}

/** Step: signals requests that wait for a model server, in all processes, that it has changed. */
export function announceModelServer(tx: Transaction, serverId: string): Promise<void> {
  return publishSignal(tx, signalName(serverId));
}

export type ModelServerWatch = {
  serverId: string;
  /** Resolves when the server has changed since the last call, or after a timeout. Rejects on abort. */
  change: (signal: AbortSignal) => Promise<void>;
  stop: () => void;
};

/** Listens from now on, so that changes between two calls of `change` are not missed. */
export function watchModelServer(events: Pick<Events, 'onSignal'>, serverId: string): ModelServerWatch {
  let changed = new AbortController();
  const stop = events.onSignal(signalName(serverId), () => changed.abort());
  return {
    serverId,
    change: async (signal) => {
      signal.throwIfAborted();
      const either = AbortSignal.any([signal, changed.signal]);
      await pause(LOOK_EVERY_MS, undefined, { signal: either }).catch(() => signal.throwIfAborted());
      changed = new AbortController();
    },
    stop,
  };
}
