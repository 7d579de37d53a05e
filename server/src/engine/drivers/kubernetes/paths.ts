import { KUEUE_API } from './kueue.ts';

/** Returns the API paths of a namespace. */
export function pathsOf(namespace: string) {
  const core = `/api/v1/namespaces/${namespace}`;
  return {
    jobs: `/apis/batch/v1/namespaces/${namespace}/jobs`,
    pods: `${core}/pods`,
    secrets: `${core}/secrets`,
    services: `${core}/services`,
    networkPolicies: `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`,
    queued: `${KUEUE_API}/namespaces/${namespace}/workloads`,
    localQueues: `${KUEUE_API}/namespaces/${namespace}/localqueues`,
  };
}
