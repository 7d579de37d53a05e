import type { Capacity } from '../model/capacity.ts';
import type { Observed } from '../model/observed.ts';
import type { Admission } from '../model/offer.ts';
import type { SpecKind } from '../model/spec-kind.ts';
import type { Behaviour, Placement, WorkloadSpec } from '../model/workload.ts';

/** All that a driver needs to start one attempt. */
export type Launch = {
  workloadId: string;
  attempt: number;
  behaviour: Behaviour;
  /** Whose turn it takes; null: it serves everybody. */
  userId: string | null;
  placement: Placement;
  /** On how many nodes it runs together, each with the whole placement. */
  nodes: number;
  spec: WorkloadSpec;
  /** Where the workload reaches the server, and the token of this attempt. */
  server: { base_url: string; token: string };
  /** The deployment in front of whose model servers a router is; null: none is in front of it. */
  deploymentId: string | null;
  /** The key that callers of a model server must send. */
  serverKey: string;
  /** GPUs that it may use, by their numbers on the machine; empty on the CPU, and where the driver chooses them. */
  devices: number[];
};

/** One attempt of a workload. */
export type AttemptId = { id: string; attempt: number };

/** One workload cannot start, whatever becomes of others; its message, without a full stop, is for users. */
export class CannotStartError extends Error {}

/**
 * Runs workloads somewhere. A driver knows an attempt by (workload id, attempt) alone, so that one whose start was
 * not recorded is found again. Every call may be repeated. A rejection means that the machine could not be reached or
 * could not do it, and says nothing about the workload.
 */
export type Driver = {
  admission: Admission;
  /** Whether its workloads are stopped when the server shuts down, to be resumed later. */
  endsWithServer: boolean;
  /** What its machine has. */
  capacity: () => Promise<Capacity>;
  /** Why a workload with such a spec cannot start at present, as one sentence; null when it can. */
  blocker: (spec: SpecKind) => Promise<string | null>;
  /**
   * Starts an attempt and closes all earlier ones: their processes are killed, and those that have not begun never
   * will.
   */
  start: (launch: Launch) => Promise<void>;
  /** Observes the attempt, and changes nothing. One that was alive is never pending again: what is put back has ended. */
  observe: (workloadId: string, attempt: number) => Promise<Observed>;
  /**
   * Limits the size of an attempt's log, and ends processes that an ended attempt has left. A slot is given away only
   * after this.
   */
  tidy: (workloadId: string, attempt: number) => Promise<void>;
  /** Asks an attempt to save its work and end; does not wait for it. */
  stop: (workloadId: string, attempt: number) => Promise<void>;
  /** Kills an attempt with all its processes. */
  kill: (workloadId: string, attempt: number) => Promise<void>;
  /** The last lines that the workload printed, in all attempts. */
  logs: (workloadId: string, limit: number) => Promise<string[]>;
  /**
   * The complete lines printed after `cursor`, about two screens at most, and the cursor to continue from. A cursor
   * is opaque; null is the beginning.
   */
  output: (workloadId: string, cursor: string | null) => Promise<{ lines: string[]; cursor: string | null }>;
  /** The workloads that it has files or processes of. */
  list: () => Promise<string[]>;
  /** The attempts with running processes, by whichever server they were started. */
  listAlive: () => Promise<AttemptId[]>;
  /** Deletes all files of a workload and kills its processes. */
  remove: (workloadId: string) => Promise<void>;
  /** Calls `listener` when an attempt may look different, at its end above all, where the driver notices by itself. */
  onChange: (listener: (workloadId: string) => void) => void;
};
