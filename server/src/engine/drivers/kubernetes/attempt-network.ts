import type { Launch } from '../driver.ts';
import { attemptLabels, attemptName, attemptOf, INDEX_ANNOTATION, type Job, NODES_LABEL } from './objects.ts';

/** Rendezvous port of the first node; the default of torchrun and Kubeflow's trainer. */
const MASTER_PORT = 29_400;

/** Label of all objects of a multi-node attempt. */
export function nodesLabel({ nodes }: Pick<Launch, 'nodes'>): Record<string, string> {
  return nodes > 1 ? { [NODES_LABEL]: String(nodes) } : {};
}

/** Job fields that create one ranked pod per node. */
export function podsOfJob({ nodes }: Pick<Launch, 'nodes'>) {
  return nodes > 1 ? { completionMode: 'Indexed', completions: nodes, parallelism: nodes } : {};
}

/** Rendezvous settings of each node: the `PET_*` variables of torchrun and Kubeflow's trainer. */
export function nodesEnvironment({ workloadId, attempt, nodes }: Launch) {
  if (nodes === 1) return [];
  const name = attemptName(workloadId, attempt);
  return [
    { name: 'PET_NNODES', value: String(nodes) },
    {
      name: 'PET_NODE_RANK',
      valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${INDEX_ANNOTATION}']` } },
    },
    // The pods of an Indexed Job are named `<job>-<rank>`; the Service with the Job's name gives them DNS
    // names.
    { name: 'PET_MASTER_ADDR', value: `${name}-0.${name}` },
    { name: 'PET_MASTER_PORT', value: String(MASTER_PORT) },
  ];
}

/** Headless Service with DNS names for a Job's pods, even before they are ready. Deleted with the Job. */
export function attemptService(job: Job) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(job),
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labelsOf(job) },
  };
}

/** NetworkPolicy that lets only the pods of a Job reach each other. Deleted with its Job. */
export function attemptPolicy(job: Job) {
  const podSelector = { matchLabels: labelsOf(job) };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(job),
    spec: { podSelector, policyTypes: ['Ingress'], ingress: [{ from: [{ podSelector }] }] },
  };
}

function metadataOf(job: Job) {
  const { name, uid } = job.metadata;
  return {
    name,
    labels: labelsOf(job),
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }],
  };
}

function labelsOf(job: Job): Record<string, string> {
  const of = attemptOf(job);
  return of ? attemptLabels(of.id, of.attempt) : {};
}
