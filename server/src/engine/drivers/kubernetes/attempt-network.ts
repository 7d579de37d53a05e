import type { Launch } from '../driver.ts';
import { attemptLabels, attemptName, attemptOf, INDEX_ANNOTATION, type Job, NODES_LABEL } from './objects.ts';

/** Where the first node waits for the others: the port that torchrun and Kubeflow's trainer take. */
const MASTER_PORT = 29_400;

/** The label of what belongs to an attempt on several nodes. Pure. */
export function nodesLabel({ nodes }: Pick<Launch, 'nodes'>): Record<string, string> {
  return nodes > 1 ? { [NODES_LABEL]: String(nodes) } : {};
}

/** How a Job makes the pods of an attempt: on several nodes each has its rank. Pure. */
export function podsOfJob({ nodes }: Pick<Launch, 'nodes'>) {
  return nodes > 1 ? { completionMode: 'Indexed', completions: nodes, parallelism: nodes } : {};
}

/**
 * What each of several nodes is told of them, by the names that torchrun reads its arguments from and Kubeflow's trainer
 * gives them: `PET_` and the argument. Pure.
 */
export function nodesEnvironment({ workloadId, attempt, nodes }: Launch) {
  if (nodes === 1) return [];
  const name = attemptName(workloadId, attempt);
  return [
    { name: 'PET_NNODES', value: String(nodes) },
    {
      name: 'PET_NODE_RANK',
      valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${INDEX_ANNOTATION}']` } },
    },
    // An Indexed Job calls its pods by its own name and their ranks, and the Service of that name knows them.
    { name: 'PET_MASTER_ADDR', value: `${name}-0.${name}` },
    { name: 'PET_MASTER_PORT', value: String(MASTER_PORT) },
  ];
}

/** Gives the pods of a Job their names, from before they are ready. It goes with its Job. Pure. */
export function attemptService(job: Job) {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(job),
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labelsOf(job) },
  };
}

/** Lets the pods of a Job be asked by each other, and by nobody else. It goes with its Job. Pure. */
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
