import type { Report, ReportsAnswer } from '@bakehouse/contract/runtime/report';
import type { Transaction } from '../../platform/db/database.ts';
import type { Artefact } from '../files/file-queries.ts';
import type { Result, Workload } from './workload.ts';

/**
 * Callbacks of the module that owns these workloads. Each one runs in the transaction that writes the change,
 * with the workload's row locked. If it throws, the engine retries the whole step later.
 */
export type WorkloadKind = {
  /** `workload.kind` of the workloads that it handles. */
  name: string;
  /** Called when the state, reason or progress of a workload has changed. */
  onChange?: (tx: Transaction, workload: Workload, before: Workload) => Promise<void>;
  /**
   * Called with up to thousands of waiting workloads if only their reasons changed. Defaults to calling
   * `onChange` for each.
   */
  onReasons?: (tx: Transaction, workloads: Workload[]) => Promise<void>;
  /** Called when reports were accepted, and every few seconds without reports while the workload is alive. */
  onReports?: (tx: Transaction, workload: Workload, reports: Report[]) => Promise<void>;
  /** Returns the adapters that the running workload must load and keep. Called with every batch of reports. */
  findAdapters?: (tx: Transaction, workload: Workload) => Promise<Partial<ReportsAnswer>>;
  /** Called when a run has delivered its result. `artefacts` are the stored files that the result names. */
  onResult?: (tx: Transaction, workload: Workload, result: Result, artefacts: Artefact[]) => Promise<void>;
};

/** Registered kinds by name. */
export type WorkloadKinds = ReadonlyMap<string, WorkloadKind>;

/** Notifies the kind of a changed workload. */
export async function announce(
  kinds: WorkloadKinds,
  tx: Transaction,
  workload: Workload,
  before: Workload,
): Promise<void> {
  await kinds.get(workload.kind)?.onChange?.(tx, workload, before);
}

/** Notifies the kinds of waiting workloads that only their reasons changed. */
export async function announceReasons(
  kinds: WorkloadKinds,
  tx: Transaction,
  changes: { workload: Workload; before: Workload }[],
): Promise<void> {
  for (const [name, kind] of kinds) {
    const own = changes.filter(({ workload }) => workload.kind === name);
    if (own.length === 0) continue;
    if (kind.onReasons) {
      await kind.onReasons(
        tx,
        own.map(({ workload }) => workload),
      );
    } else {
      for (const { workload, before } of own) await kind.onChange?.(tx, workload, before);
    }
  }
}
