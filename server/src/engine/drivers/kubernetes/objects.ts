import type { EndedBy } from '../../model/observed.ts';
import type { AttemptId } from '../driver.ts';
import type { ApiObject } from './watch-objects.ts';

/*
 * Only the fields that this server reads: https://kubernetes.io/docs/reference/kubernetes-api/ and, for
 * Workload, https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta2/.
 */

type Metadata = ApiObject['metadata'] & {
  uid?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  ownerReferences?: { kind: string; name: string }[];
};

export type Condition = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
};

export type Job = {
  metadata: Metadata;
  spec: { suspend?: boolean };
  status?: { conditions?: Condition[] };
};

type Container = {
  state?: {
    waiting?: { reason?: string; message?: string };
    running?: { startedAt?: string };
    terminated?: { exitCode: number; reason?: string; message?: string };
  };
};

export type Pod = {
  metadata: Metadata;
  spec: { nodeName?: string };
  status?: {
    phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
    reason?: string;
    message?: string;
    podIP?: string;
    startTime?: string;
    conditions?: Condition[];
    initContainerStatuses?: Container[];
    containerStatuses?: Container[];
  };
};

/** Kueue's Workload of a queued Job. */
export type QueuedJob = { metadata: Metadata; status?: { conditions?: Condition[] } };

export type Node = {
  metadata: Metadata;
  spec?: { unschedulable?: boolean };
  status?: { allocatable?: Record<string, string>; conditions?: Condition[] };
};

export const MANAGED = { 'app.kubernetes.io/managed-by': 'bakehouse' };
export const MANAGED_SELECTOR = 'app.kubernetes.io/managed-by=bakehouse';
export const WORKLOAD_LABEL = 'bakehouse/workload';
const ATTEMPT_LABEL = 'bakehouse/attempt';
/** Number of nodes of an attempt; absent for a single node. */
export const NODES_LABEL = 'bakehouse/nodes';
/** Rank of a pod in an Indexed Job: https://kubernetes.io/docs/reference/labels-annotations-taints/ */
export const INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';
/** Hash of the Job's token, as stored in the database. */
export const TOKEN_ANNOTATION = 'bakehouse/token-sha256';
/** Who ends a Job that is being deleted; absent if the engine does. */
export const ENDED_BY_ANNOTATION = 'bakehouse/ended-by';

/** Returns the name of an attempt's Job and Secret. */
export function attemptName(workloadId: string, attempt: number): string {
  return `bakehouse-${workloadId}-${attempt}`;
}

export function attemptLabels(workloadId: string, attempt: number): Record<string, string> {
  return { ...MANAGED, [WORKLOAD_LABEL]: workloadId, [ATTEMPT_LABEL]: String(attempt) };
}

/** Returns the attempt of a Job name; null for other Jobs. */
export function attemptNamed(name: string): AttemptId | null {
  const [, id, attempt] = /^bakehouse-([0-9a-f-]{36})-(\d+)$/.exec(name) ?? [];
  return id === undefined ? null : { id, attempt: Number(attempt) };
}

/** Returns the attempt that an object belongs to; null for foreign objects. */
export function attemptOf(object: { metadata: Metadata } | undefined): AttemptId | null {
  const { [WORKLOAD_LABEL]: id, [ATTEMPT_LABEL]: attempt } = object?.metadata.labels ?? {};
  return id === undefined || attempt === undefined ? null : { id, attempt: Number(attempt) };
}

/** Returns the number of nodes of the object's attempt. */
export function nodeCountOf(object: { metadata: Metadata } | undefined): number {
  return Number(object?.metadata.labels?.[NODES_LABEL] ?? 1);
}

/** Returns the rank of a pod; rank 0 is the pod that reports. */
export function rankOf({ metadata }: Pod): number {
  return Number(metadata.annotations?.[INDEX_ANNOTATION] ?? 0);
}

/** Returns who ends a Job, from its annotation. */
export function endedByOf(job: Job | undefined): EndedBy | null {
  return (job?.metadata.annotations?.[ENDED_BY_ANNOTATION] as EndedBy | undefined) ?? null;
}

/** True if a Job creates no more pods and is only kept for inspection. */
export function isFinished({ status, metadata }: Job): boolean {
  return isTrue(status, 'Failed') || isTrue(status, 'Complete') || metadata.deletionTimestamp !== undefined;
}

export function findCondition(
  status: { conditions?: Condition[] } | undefined,
  type: string,
): Condition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Returns true if the condition exists and is true. */
export function isTrue(status: { conditions?: Condition[] } | undefined, type: string): boolean {
  return findCondition(status, type)?.status === 'True';
}
