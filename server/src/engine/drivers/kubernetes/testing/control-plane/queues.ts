import type { Cluster } from '../../cluster.ts';
import { KUEUE_API, PRIORITIES } from '../../kueue.ts';

/**
 * Creates ClusterQueues of H100s that lend each other free quota, and the priorities that the driver uses.
 */
export async function makeQueues(
  cluster: Cluster,
  queues: {
    name: string;
    gpus: number;
    cohort?: string;
    /** Whether users with less usage are served first, whatever the priority. */
    isShared?: boolean;
  }[],
): Promise<void> {
  const apiVersion = 'kueue.x-k8s.io/v1beta2';
  const make = (plural: string, kind: string, name: string, more: object) =>
    cluster.call('POST', `${KUEUE_API}/${plural}`, { apiVersion, kind, metadata: { name }, ...more });
  await make('workloadpriorityclasses', 'WorkloadPriorityClass', PRIORITIES.deployment, { value: 1000 });
  await make('workloadpriorityclasses', 'WorkloadPriorityClass', PRIORITIES.resumed, { value: 200 });
  await make('workloadpriorityclasses', 'WorkloadPriorityClass', PRIORITIES.run, { value: 100 });
  await make('resourceflavors', 'ResourceFlavor', 'h100', {
    spec: { nodeLabels: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' } },
  });
  for (const { name, gpus, cohort = 'h100', isShared = false } of queues) {
    const quotas = {
      cpu: '10k',
      memory: '100Ti',
      'ephemeral-storage': '1000Ti',
      'nvidia.com/gpu': String(gpus),
    };
    const resources = Object.entries(quotas).map(([resource, nominalQuota]) => ({
      name: resource,
      nominalQuota,
    }));
    await make('clusterqueues', 'ClusterQueue', name, {
      spec: {
        cohortName: cohort,
        namespaceSelector: {},
        queueingStrategy: 'BestEffortFIFO',
        ...(isShared && { admissionScope: { admissionMode: 'UsageBasedAdmissionFairSharing' } }),
        preemption: { reclaimWithinCohort: 'Any', withinClusterQueue: 'LowerPriority' },
        resourceGroups: [{ coveredResources: Object.keys(quotas), flavors: [{ name: 'h100', resources }] }],
      },
    });
  }
}
