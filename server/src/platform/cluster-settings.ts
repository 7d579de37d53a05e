import * as z from 'zod';
import { podSettings } from './pod-settings.ts';
import { invalidSettings } from './secrets/secret-files.ts';

const ROUTER_EXAMPLE = '0197f3a2-6c1e-7d50-9b57-3f1f5e0f7a11=http://router.bakehouse-work';
const dnsLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export const clusterSettings = {
  /** Kubeconfig of the cluster to send work to; `in-cluster` for the cluster of this process's own pod. */
  BAKEHOUSE_KUBECONFIG: z.string().optional(),
  /** Namespace for its Jobs and Secrets. */
  BAKEHOUSE_KUBERNETES_NAMESPACE: z
    .string()
    .max(63)
    .regex(dnsLabel, 'must be the name of a namespace, such as bakehouse-work')
    .default('bakehouse-work'),
  /** Runtime images for CPU and GPU work; if only one is set, it is used for both. */
  BAKEHOUSE_KUBERNETES_IMAGE: z.string().optional(),
  BAKEHOUSE_KUBERNETES_CUDA_IMAGE: z.string().optional(),
  /** Further settings of work pods, as JSON: of `all`, of pods without a GPU (`cpu`), and of each GPU type. */
  BAKEHOUSE_KUBERNETES_PODS: podSettings.default({}),
  /** URL of this server for pods. Defaults to the public URL. */
  BAKEHOUSE_KUBERNETES_SERVER_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Whether work without a GPU also goes to the cluster. */
  BAKEHOUSE_KUBERNETES_CPU_RUNS: z.stringbool().default(false),
  /**
   * Kueue's ClusterQueues by GPU type or `cpu`, such as `cpu=general,NVIDIA_H100_80GB=h100`; a name alone is
   * the default queue.
   */
  BAKEHOUSE_KUEUE_QUEUES: z
    .string()
    .regex(
      /^\s*([A-Za-z0-9][A-Za-z0-9 ._-]*=)?[a-z0-9][a-z0-9-]{0,29}(\s*,\s*([A-Za-z0-9][A-Za-z0-9 ._-]*=)?[a-z0-9][a-z0-9-]{0,29})*\s*$/,
      'must be names of ClusterQueues with up to 30 characters, such as cpu=general,NVIDIA_H100_80GB=h100',
    )
    .optional(),
  /** Routers in front of the replicas of a deployment, as comma-separated `deployment id=address`. */
  BAKEHOUSE_ROUTERS: z.string().default('').transform(readRouters),
  /** Shared key of the model servers behind routers, instead of a key for each. */
  BAKEHOUSE_MODEL_SERVER_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,}$/, 'must have 32 characters or more, without spaces')
    .optional(),
};

/** Parses the addresses of routers by deployment. */
function readRouters(text: string, context: z.core.$RefinementCtx): ReadonlyMap<string, string> {
  const entries = text.split(',').map((entry) => entry.trim());
  const routers = new Map<string, string>();
  for (const entry of entries.filter(Boolean)) {
    const [name = '', ...rest] = entry.split('=');
    const [id, url] = [name.toLowerCase(), rest.join('=')];
    if (!z.uuid().safeParse(id).success || !isBase(url))
      context.addIssue(`must be such as ${ROUTER_EXAMPLE}, not '${entry}'`);
    if (routers.has(id)) context.addIssue(`names the deployment ${id} twice`);
    routers.set(id, url.replace(/\/+$/, ''));
  }
  return routers;
}

/** True if the URL is a base to which paths can be appended. */
function isBase(url: string): boolean {
  return z.url({ protocol: /^https?$/ }).safeParse(url).success && !/[?#@]|\/v1\/*$/.test(url);
}

/** Routers in front of model servers by deployment, and the key of those servers. */
export type Routing = { routers: ReadonlyMap<string, string>; key: string };

/**
 * Returns the configured routers. Throws an error that names missing settings. All replicas behind a router
 * need the same key.
 */
export function routingOf(s: Settings): Routing | null {
  const { BAKEHOUSE_ROUTERS: routers, BAKEHOUSE_MODEL_SERVER_KEY: key } = s;
  if (routers.size === 0) return null;
  if (s.BAKEHOUSE_KUBECONFIG === undefined)
    throw invalidSettings(['BAKEHOUSE_KUBECONFIG: is required with BAKEHOUSE_ROUTERS']);
  if (key === undefined)
    throw invalidSettings(['BAKEHOUSE_MODEL_SERVER_KEY: is required with BAKEHOUSE_ROUTERS']);
  return { routers, key };
}

/**
 * ClusterQueues by GPU type, `cpu`, or `*` for everything else. A type may have several queues. Each user
 * gets one of them, because each queue offers one workload at a time.
 */
export type Queues = ReadonlyMap<string, string[]>;

/** Parses `cpu=general,NVIDIA_H100_80GB=h100-a,NVIDIA_H100_80GB=h100-b,rest`. */
export function parseQueues(text: string): Queues {
  const queues = new Map<string, string[]>();
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [name = '', queue] = entry.split('=', 2);
    const [accelerator, clusterQueue] = queue === undefined ? ['*', name] : [name, queue];
    queues.set(accelerator, [...(queues.get(accelerator) ?? []), clusterQueue]);
  }
  return queues;
}

type Settings = z.output<z.ZodObject<typeof clusterSettings>>;

/** Returns the settings of the cluster, or null. Throws an error that names missing settings. */
export function clusterOf(s: Settings, publicUrl: string) {
  const { BAKEHOUSE_KUBECONFIG: kubeconfig, BAKEHOUSE_KUBERNETES_IMAGE: image } = s;
  if (kubeconfig === undefined) {
    if (image) throw invalidSettings(['BAKEHOUSE_KUBECONFIG: is required with BAKEHOUSE_KUBERNETES_IMAGE']);
    return null;
  }
  if (image === undefined)
    throw invalidSettings(['BAKEHOUSE_KUBERNETES_IMAGE: is required with BAKEHOUSE_KUBECONFIG']);
  const cpuWork = s.BAKEHOUSE_KUBERNETES_CPU_RUNS;
  const queues = s.BAKEHOUSE_KUEUE_QUEUES === undefined ? null : parseQueues(s.BAKEHOUSE_KUEUE_QUEUES);
  if (cpuWork && queues && !queues.has('cpu') && !queues.has('*'))
    throw invalidSettings([
      'BAKEHOUSE_KUEUE_QUEUES: has no queue for cpu, but BAKEHOUSE_KUBERNETES_CPU_RUNS sends runs without a GPU to the cluster: add cpu=QUEUE',
    ]);
  return {
    kubeconfig,
    namespace: s.BAKEHOUSE_KUBERNETES_NAMESPACE,
    ...{ image, cudaImage: s.BAKEHOUSE_KUBERNETES_CUDA_IMAGE ?? image },
    podParts: s.BAKEHOUSE_KUBERNETES_PODS,
    serverUrl: s.BAKEHOUSE_KUBERNETES_SERVER_URL ?? publicUrl,
    cpuWork,
    queues,
  };
}
