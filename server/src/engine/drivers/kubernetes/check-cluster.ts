import { ApiError, type Cluster } from './cluster.ts';
import { KUEUE_API, PRIORITIES } from './kueue.ts';

const PROGRAMS = 'deploy/chart/bakehouse/templates/access.yaml has the rights that are needed';

/**
 * Returns the permanent id of a cluster after verifying all required permissions. Throws a plain sentence
 * that names what is missing.
 */
export async function checkCluster(cluster: Cluster, { kueue }: { kueue: boolean }): Promise<{ id: string }> {
  const { namespace } = cluster;
  const denied = await listDenied(cluster, kueue);
  if (denied.length > 0)
    throw new Error(
      `BAKEHOUSE_KUBECONFIG: this account may not ${denied.join(', ')} in the namespace ${namespace}: ${PROGRAMS}`,
    );
  await trySecret(cluster);
  if (kueue) await findKueue(cluster);
  const { metadata } = await cluster.call<{ metadata: { uid: string } }>(
    'GET',
    '/api/v1/namespaces/kube-system',
  );
  return { id: metadata.uid };
}

type Right = { group: string; resource: string; subresource?: string; verbs: string[]; inCluster?: true };

const RIGHTS: Right[] = [
  {
    group: 'batch',
    resource: 'jobs',
    verbs: ['create', 'get', 'list', 'watch', 'patch', 'delete', 'deletecollection'],
  },
  { group: '', resource: 'secrets', verbs: ['create', 'patch', 'delete', 'deletecollection'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch', 'delete'] },
  { group: '', resource: 'pods', subresource: 'log', verbs: ['get'] },
  { group: '', resource: 'nodes', verbs: ['list'], inCluster: true },
];
const KUEUE_RIGHTS: Right[] = [
  { group: 'kueue.x-k8s.io', resource: 'localqueues', verbs: ['create'] },
  { group: 'kueue.x-k8s.io', resource: 'workloads', verbs: ['list', 'watch'] },
];

/** Denied permissions, such as `create jobs`. */
async function listDenied(cluster: Cluster, kueue: boolean): Promise<string[]> {
  const asked = [...RIGHTS, ...(kueue ? KUEUE_RIGHTS : [])].flatMap((right) =>
    right.verbs.map((verb) => ({ ...right, verb })),
  );
  const answers = await Promise.all(
    asked.map(async ({ group, resource, subresource, verb, inCluster }) => {
      const review = await cluster.call<{ status: { allowed: boolean } }>(
        'POST',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: {
            resourceAttributes: {
              group,
              resource,
              subresource,
              verb,
              ...(!inCluster && { namespace: cluster.namespace }),
            },
          },
        },
      );
      return review.status.allowed ? [] : [`${verb} ${resource}${subresource ? `/${subresource}` : ''}`];
    }),
  );
  return answers.flat();
}

/** Dry run: verifies that the namespace exists and accepts another Secret. */
async function trySecret(cluster: Cluster): Promise<void> {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'bakehouse-try' } };
  try {
    await cluster.call('POST', `/api/v1/namespaces/${cluster.namespace}/secrets?dryRun=All`, secret);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const why =
      error.status === 404 ? 'there is no such namespace: create it, or name another one' : error.message;
    throw new Error(`BAKEHOUSE_KUBERNETES_NAMESPACE: ${cluster.namespace} takes no work: ${why}`, {
      cause: error,
    });
  }
}

async function findKueue(cluster: Cluster): Promise<void> {
  try {
    await cluster.call('GET', `${KUEUE_API}/namespaces/${cluster.namespace}/workloads?limit=1`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new Error(
      'BAKEHOUSE_KUEUE_QUEUES: this cluster has no Kueue of v1beta2: install 0.16 or newer, or leave the setting empty',
      { cause: error },
    );
  }
  const missing: string[] = [];
  for (const name of Object.values(PRIORITIES)) {
    const call = cluster.call('GET', `${KUEUE_API}/workloadpriorityclasses/${name}`);
    await call.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      missing.push(name);
    });
  }
  if (missing.length > 0)
    throw new Error(
      `BAKEHOUSE_KUEUE_QUEUES: the cluster has no WorkloadPriorityClass ${missing.join(', ')}: deploy/kueue/queues.yaml makes them`,
    );
}
