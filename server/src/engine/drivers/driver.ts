import type { Capacity } from '../model/capacity.ts';
import type { Observed } from '../model/observed.ts';
import type { Admission } from '../model/offer.ts';
import type { SpecKind } from '../model/spec-kind.ts';
import type { Behaviour, Placement, WorkloadSpec } from '../model/workload.ts';

export type Launch = {
  workloadId: string;
  attempt: number;
  behaviour: Behaviour;
  /** The user whose quota the attempt uses; null if it serves all users. */
  userId: string | null;
  placement: Placement;
  /** Number of nodes; each gets the whole placement. */
  nodes: number;
  spec: WorkloadSpec;
  /** The server's URL as seen by the workload, and the token of this attempt. */
  server: { base_url: string; token: string };
  /** The deployment whose model servers a router fronts; null if the workload is not a router. */
  deploymentId: string | null;
  /** Key that callers of a model server must send. */
  serverKey: string;
  /** Indexes of the GPUs to use; empty on the CPU, or if the driver chooses them. */
  devices: number[];
};

export type AttemptId = { id: string; attempt: number };

/** Thrown if this workload cannot start but others may. Users see the message, which has no full stop. */
export class CannotStartError extends Error {}

/**
 * Runs workloads on a machine or cluster. A driver identifies an attempt by (workload id, attempt) alone, so
 * it finds an attempt even if the server failed to record its start. Every call is idempotent. A rejected
 * call means that the machine failed or was unreachable, not that the workload failed.
 */
export type Driver = {
  admission: Admission;
  /** Whether to stop its workloads when the server shuts down, to resume them later. */
  endsWithServer: boolean;
  /** Total resources of the machine. */
  capacity: () => Promise<Capacity>;
  /** Why a workload with this spec cannot start now, as one sentence; null if it can. */
  blocker: (spec: SpecKind) => Promise<string | null>;
  /** Starts an attempt and closes earlier ones: running processes are killed, pending ones never start. */
  start: (launch: Launch) => Promise<void>;
  /** Observes the attempt without side effects. An attempt that was alive never becomes pending again. */
  observe: (workloadId: string, attempt: number) => Promise<Observed>;
  /**
   * Truncates an attempt's log, and kills processes that an ended attempt left behind. Call this before
   * reusing the attempt's GPUs.
   */
  tidy: (workloadId: string, attempt: number) => Promise<void>;
  /** Asks an attempt to save its work and exit; does not wait. */
  stop: (workloadId: string, attempt: number) => Promise<void>;
  /** Kills an attempt and all its processes. */
  kill: (workloadId: string, attempt: number) => Promise<void>;
  /** The last lines printed by the workload, across all attempts. */
  logs: (workloadId: string, limit: number) => Promise<string[]>;
  /**
   * Complete lines printed after `cursor` (at most about two screens), and the next cursor. Cursors are
   * opaque; null is the beginning.
   */
  output: (workloadId: string, cursor: string | null) => Promise<{ lines: string[]; cursor: string | null }>;
  /** Workloads that have files or processes. */
  list: () => Promise<string[]>;
  /** Attempts with running processes, including those started by another server. */
  listAlive: () => Promise<AttemptId[]>;
  /** Deletes all files of a workload and kills its processes. */
  remove: (workloadId: string) => Promise<void>;
  /** Calls `listener` each time an attempt exits. May also call it after other changes. */
  onChange: (listener: (workloadId: string) => void) => void;
};
