import type { ExportGgufSpec, ExportSafetensorsSpec } from '@bakehouse/contract/runtime/export-spec';
import type { Report } from '@bakehouse/contract/runtime/report';
import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import type { ServeImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { ServeTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { TrainFluxSpec } from '@bakehouse/contract/runtime/train-image-spec';
import type { TrainTextSpec } from '@bakehouse/contract/runtime/train-spec';

/*
 * Glossary of the engine.
 *
 * workload     A unit of work on a machine. Its spec never changes once it may begin, except for
 *              adapters that it loads while it runs; a different spec requires a new workload.
 * behaviour    A `run` is finite and ends with a result. A `deployment` is kept running until it
 *              is stopped.
 * kind         The module that handles it; its handlers run in the engine's transactions.
 * wanted       The desired state: running or stopped. Callers only ever set this; the engine
 *              reconciles the state.
 * state        The current state:
 *                queued      waits for a slot, or for the end of the pause after a failure
 *                scheduling  has a slot; its process is about to start
 *                pulling     fetches its inputs to the machine
 *                starting    loads
 *                ready       works: a run makes steps, a deployment serves requests
 *                degraded    was ready, and has been silent for a while
 *                stopping    was asked to save its work and exit
 *                completed, stopped, failed   ended permanently
 * machine      Where workloads run: the data folder, whose server assigns its slots; or a cluster, whose
 *              driver has its own queue.
 * slot         Unit of the queue's capacity: one CPU slot, or a number of GPUs.
 * attempt      One start. An interrupted workload gets another attempt under the same id and
 *              resumes from its files. Each attempt has its own token, so reports of leftover
 *              processes of earlier attempts are rejected.
 * outcome      The final report of an attempt: result, failed or stopped.
 * driver       Starts, observes and stops attempts: as child processes, or in a cluster.
 * active time  Seconds between reports while ready, at most 30 per pair. Unobserved time is not
 *              counted; after a crash, or an end without saving, only what a checkpoint has
 *              saved counts.
 */

export type Behaviour = 'run' | 'deployment';

export type WorkloadState =
  | 'queued'
  | 'scheduling'
  | 'pulling'
  | 'starting'
  | 'ready'
  | 'degraded'
  | 'stopping'
  | EndState;

export type EndState = 'completed' | 'stopped' | 'failed';

type MadeAtStart =
  | 'protocol'
  | 'workload_id'
  | 'server'
  | 'work_dir'
  | 'keeps_work_dir'
  | 'leave_seconds'
  | 'inputs_dir';

type MadeAtServing = MadeAtStart | 'host' | 'api_key' | 'threads';

/** The runtime's spec without the fields that the engine adds at start. */
export type WorkloadSpec =
  | Omit<TrainTextSpec, MadeAtStart>
  | Omit<TrainFluxSpec, MadeAtStart>
  | Omit<ExportSafetensorsSpec, MadeAtStart>
  | Omit<ExportGgufSpec, MadeAtStart>
  | Omit<ServeTextSpec, MadeAtServing>
  | Omit<ServeEmbeddingSpec, MadeAtServing>
  | Omit<ServeImageSpec, MadeAtServing>;

export type Placement = { accelerator: string; count: number } | { accelerator: null; count: 0 };

/**
 * Why the engine kills an attempt. `lingering`: it did not exit after its result. `silent`: it sent no
 * reports. `loading`: it was not ready in time. `unreachable`: the server process that it reports to is gone.
 * `overdue`: it did not stop when asked.
 */
export type KillCause = 'lingering' | 'silent' | 'loading' | 'unreachable' | 'overdue';

export type Outcome = Extract<Report, { type: 'result' | 'failed' | 'stopped' }>;

export type Result = Extract<Report, { type: 'result' }>;

export type Workload = {
  id: string;
  /** The owner; null if the workload serves all users. */
  userId: string | null;
  behaviour: Behaviour;
  kind: string;
  /** The deployment that this model server exclusively serves; null if shared, or not a model server. */
  deploymentId: string | null;
  title: string;
  /** The machine of the last start, which has the workload's files; null if there is none. */
  machineId: string | null;
  placement: Placement;
  expectedSeconds: number | null;
  wanted: 'running' | 'stopped';
  state: WorkloadState;
  /** Why the workload is in this state, for its waiting user. */
  reason: string;
  /** Indexes of the assigned GPUs. Empty on the CPU and in the driver's own queue; null without a slot. */
  devices: number[] | null;
  attempt: number;
  interrupted: boolean;
  /** Why the current attempt was killed, or null. */
  killedFor: KillCause | null;
  /** Number of restarts after an interruption. */
  restarts: number;
  /** Consecutive failures without progress. */
  failures: number;
  acceptedSeq: number;
  /** The runtime's name for its current phase, and the progress of that phase. */
  phase: string | null;
  /** Whether time in this phase counts as work. */
  phaseCounted: boolean;
  done: number | null;
  total: number | null;
  unit: 'steps' | 'bytes' | 'examples' | null;
  remainingSeconds: number | null;
  step: number;
  stepsTotal: number;
  /** URL of a deployment. */
  baseUrl: string | null;
  /** Host of the current attempt as seen by its driver; null if it serves at the host of its machine. */
  address: string | null;
  /** Server URL that the current attempt reports to, or null if unknown. */
  serverUrl: string | null;
  /** Key that the current attempt requires from callers. */
  serverKey: string | null;
  /** The driver's cursor for the output that is not in the log yet; null at the beginning. */
  outputCursor: string | null;
  outcome: Outcome | null;
  activeSeconds: number;
  savedSeconds: number;
  /** Active seconds saved by the uploaded checkpoint. */
  checkpointSeconds: number;
  createdAt: Date;
  queuedAt: Date;
  notBefore: Date;
  attemptStartedAt: Date | null;
  startedAt: Date | null;
  readyAt: Date | null;
  lastReportAt: Date | null;
  stopRequestedAt: Date | null;
  stopReason: string | null;
  /** How long it may work on open requests before it is asked to stop; 0 for only the grace period. */
  drainSeconds: number;
  endedAt: Date | null;
  /** When the workload's files were deleted, or null. It can be resumed only while it has files. */
  filesRemovedAt: Date | null;
};

/** Includes the spec, which may be megabytes: read it only if needed. */
export type WorkloadWithSpec = Workload & { spec: WorkloadSpec };

/** Returns true if the workload has ended permanently. */
export function hasEnded(workload: Pick<Workload, 'state'>): boolean {
  return workload.state === 'completed' || workload.state === 'stopped' || workload.state === 'failed';
}

/** Returns true if it waits in its driver's own queue: an attempt was handed over and has not begun. */
export function isWithDriver({ state, devices }: Pick<Workload, 'state' | 'devices'>): boolean {
  return state === 'queued' && devices !== null;
}

/** Returns the later of two times; null if both are null. */
export function latest(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a > b ? a : b;
}
