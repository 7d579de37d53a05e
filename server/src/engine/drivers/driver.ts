import type { Capacity } from '../model/capacity.ts';
import type { Observed } from '../model/observed.ts';
import type { Admission } from '../model/offer.ts';
import type { SpecKind } from '../model/spec-kind.ts';
import type { Behaviour, WorkloadSpec } from '../model/workload.ts';

/** All that a driver needs to start one attempt. */
export type Launch = {
  workloadId: string;
  attempt: number;
  behaviour: Behaviour;
  spec: WorkloadSpec;
  /** Where the workload reaches the server, and the token of this attempt. */
  server: { base_url: string; token: string };
  /** What a model server wants to be shown by those who ask it. */
  serverKey: string;
  /** GPUs that it may use, by the numbers of their machine; empty on the CPU. */
  devices: number[];
};

/** One attempt of a workload. */
export type AttemptId = { id: string; attempt: number };

/**
 * Runs workloads somewhere. A driver knows an attempt by (workload id, attempt) alone, so that
 * one whose start nobody could record any more is found again. Every call may be repeated.
 * A rejection says that the machine could not be reached, or could not do it; of the workload nothing
 * may be concluded then.
 */
export type Driver = {
  admission: Admission;
  /** Whether its workloads are stopped, to go on later, when the server ends in good order. */
  endsWithServer: boolean;
  /** What its machine has. */
  capacity: () => Promise<Capacity>;
  /** Why a workload of such a spec cannot start at present, as one sentence; null when it can. */
  blocker: (spec: SpecKind) => Promise<string | null>;
  /**
   * Starts an attempt and closes all earlier ones: what still lives of them is killed, and what
   * has not begun yet never will.
   */
  start: (launch: Launch) => Promise<void>;
  /** Looks, and changes nothing. */
  observe: (workloadId: string, attempt: number) => Promise<Observed>;
  /**
   * Keeps what an attempt prints from growing without bound, and ends what one that has ended itself has started and
   * left. Whoever has seen it end gives its slot away only after this.
   */
  tidy: (workloadId: string, attempt: number) => Promise<void>;
  /** Asks an attempt to save its work and end; does not wait for it. */
  stop: (workloadId: string, attempt: number) => Promise<void>;
  /** Ends an attempt at once, with all that it started. */
  kill: (workloadId: string, attempt: number) => Promise<void>;
  /** The last lines that the workload printed, in all attempts. */
  logs: (workloadId: string, limit: number) => Promise<string[]>;
  /**
   * The whole lines that it printed after `cursor`, and the cursor to go on from; not more than a
   * screenful or two at once. A cursor means something to its driver alone; null is the beginning.
   */
  output: (workloadId: string, cursor: string | null) => Promise<{ lines: string[]; cursor: string | null }>;
  /** The workloads of which it has anything. */
  list: () => Promise<string[]>;
  /** The attempts that live, whoever has started them; of what they are the database knows. */
  listAlive: () => Promise<AttemptId[]>;
  /** Deletes all that it has of a workload, and ends what still lives of it. */
  remove: (workloadId: string) => Promise<void>;
  /** Calls `listener` when an attempt may have ended, where the driver learns of it by itself. */
  onEnd: (listener: (workloadId: string) => void) => void;
};
