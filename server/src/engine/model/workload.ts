import type { ExportGgufSpec, ExportSafetensorsSpec } from '@bakehouse/contract/runtime/export-spec';
import type { Report } from '@bakehouse/contract/runtime/report';
import type { ServeEmbeddingSpec } from '@bakehouse/contract/runtime/serve-embedding-spec';
import type { ServeImageSpec } from '@bakehouse/contract/runtime/serve-image-spec';
import type { ServeTextSpec } from '@bakehouse/contract/runtime/serve-spec';
import type { TrainFluxSpec } from '@bakehouse/contract/runtime/train-image-spec';
import type { TrainTextSpec } from '@bakehouse/contract/runtime/train-spec';

/*
 * The words of the engine.
 *
 * workload     Something that runs on a machine. Its spec never changes once it may begin: whoever
 *              wants another spec requests another workload.
 * behaviour    A `run` is finite and ends by itself with a result. A `deployment` is kept running
 *              until somebody stops it.
 * kind         The module that answers for it; its handlers run in the engine's transactions.
 * wanted       What the workload's owner wants: running or stopped. Only this is ever asked for;
 *              the engine brings the state there.
 * state        Where it is:
 *                queued      waits for a slot, or for the pause after a failure to pass
 *                scheduling  has a slot; its process is about to start
 *                pulling     brings its inputs to the machine
 *                starting    loads
 *                ready       does its job: a run makes steps, a deployment answers
 *                degraded    was ready, and has been silent for a while
 *                stopping    was asked to save its work and end
 *                completed, stopped, failed   ended, for good
 * machine      Where workloads run: the data folder, whose server hands out its slots; or a cluster, whose
 *              driver has its own queue.
 * slot         What is taken from the queue's capacity: one CPU slot, or a number of GPUs.
 * attempt      One start. A workload that is interrupted is attempted again under the same id and
 *              goes on where its files say. An attempt has its own token, so that a process of an
 *              earlier one, should it still live, is refused.
 * outcome      The last word of an attempt: result, failed or stopped.
 * driver       What starts, watches and stops attempts: child processes, or a cluster.
 * active time  The seconds between reports while ready, at most 30 for each pair. Nothing that was
 *              not seen is counted, and after a crash, or an end without saving, only what a
 *              checkpoint has saved.
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
/** What the runtime is told, without what the engine adds at start. */
export type WorkloadSpec =
  | Omit<TrainTextSpec, MadeAtStart>
  | Omit<TrainFluxSpec, MadeAtStart>
  | Omit<ExportSafetensorsSpec, MadeAtStart>
  | Omit<ExportGgufSpec, MadeAtStart>
  | Omit<ServeTextSpec, MadeAtServing>
  | Omit<ServeEmbeddingSpec, MadeAtServing>
  | Omit<ServeImageSpec, MadeAtServing>;

/** GPUs of one type (see `Gpu`), or the CPU. */
export type Placement = { accelerator: string; count: number } | { accelerator: null; count: 0 };

/**
 * Why the engine kills an attempt: it goes on `lingering` after its result; it was `silent`; it was not ready in time (`loading`);
 * the server that it reports to is gone (`unreachable`); it was asked to end, and is `overdue`.
 */
export type KillCause = 'lingering' | 'silent' | 'loading' | 'unreachable' | 'overdue';

export type Outcome = Extract<Report, { type: 'result' | 'failed' | 'stopped' }>;
export type Result = Extract<Report, { type: 'result' }>;

export type Workload = {
  id: string;
  /** Null: it serves everybody. */
  userId: string | null;
  behaviour: Behaviour;
  kind: string;
  /** The deployment whose own model server it is; null: it is another's, or none. */
  deploymentId: string | null;
  title: string;
  /** Where it was started last, and its files are; null: nowhere. */
  machineId: string | null;
  placement: Placement;
  expectedSeconds: number | null;
  wanted: 'running' | 'stopped';
  state: WorkloadState;
  /** Why it is in this state, for the person who waits. */
  reason: string;
  /**
   * GPUs that it holds, by the numbers of their machine; empty on the CPU, and in its driver's own queue; null while it
   * holds no slot.
   */
  devices: number[] | null;
  attempt: number;
  interrupted: boolean;
  /** Why the present attempt was killed; null while nobody has. */
  killedFor: KillCause | null;
  /** Starts after an interruption. */
  restarts: number;
  /** Failures in a row without getting further. */
  failures: number;
  acceptedSeq: number;
  /** The runtime's own name for what it does now, and how far that is. */
  phase: string | null;
  /** Whether the time of this phase is part of the work. */
  phaseCounted: boolean;
  done: number | null;
  total: number | null;
  unit: 'steps' | 'bytes' | 'examples' | null;
  remainingSeconds: number | null;
  step: number;
  stepsTotal: number;
  /** Where a deployment answers. */
  baseUrl: string | null;
  /** The host at which the present attempt answers, where its driver says so; null: its machine's. */
  address: string | null;
  /** Where the present attempt reports to; null: not known. */
  serverUrl: string | null;
  /** What it wants to be shown there; of one attempt alone. */
  serverKey: string | null;
  /** How far its output has been copied into the log, in its driver's own terms; null: nothing yet. */
  outputCursor: string | null;
  outcome: Outcome | null;
  activeSeconds: number;
  savedSeconds: number;
  /** Those that the checkpoint on the server has saved. */
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
  /** How long it may finish what it has begun before it is asked to end; 0: not beyond the usual. */
  drainSeconds: number;
  endedAt: Date | null;
  /** When its files were deleted; until then it can be resumed. */
  filesRemovedAt: Date | null;
};

/** With what its process is told, which may be megabytes: read where it is needed only. */
export type WorkloadWithSpec = Workload & { spec: WorkloadSpec };
