import type { Report } from '@bakehouse/contract/runtime/report';
import type { Transaction } from '../../platform/db/database.ts';
import type { Artefact } from '../files/file-queries.ts';
import type { Result, Workload } from './workload.ts';

/**
 * How a module takes part in the life of its workloads. Every handler runs in the transaction that writes the change,
 * with the workload's row locked. When a handler throws, the engine retries the whole step later.
 */
export type WorkloadKind = {
  /** `workload.kind` of the workloads that it answers for. */
  name: string;
  /** Something about it has changed: its state, its reason, its progress. */
  onChange?: (tx: Transaction, workload: Workload, before: Workload) => Promise<void>;
  /**
   * The reasons of these have changed while they wait; there may be thousands. Where it is missing,
   * `onChange` is called for each.
   */
  onReasons?: (tx: Transaction, workloads: Workload[]) => Promise<void>;
  /** Reports were accepted; also called without any, every few seconds while the workload lives. */
  onReports?: (tx: Transaction, workload: Workload, reports: Report[]) => Promise<void>;
  /** A run has delivered its result. `artefacts` are the files that the result names, all of them stored. */
  onResult?: (tx: Transaction, workload: Workload, result: Result, artefacts: Artefact[]) => Promise<void>;
};

/** The registered kinds by name. */
export type WorkloadKinds = ReadonlyMap<string, WorkloadKind>;

/** Tells the kind of a workload that it changed. */
export async function announce(
  kinds: WorkloadKinds,
  tx: Transaction,
  workload: Workload,
  before: Workload,
): Promise<void> {
  await kinds.get(workload.kind)?.onChange?.(tx, workload, before);
}

/** Tells the kinds of waiting workloads that only their reasons changed. */
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
