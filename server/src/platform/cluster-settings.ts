import * as z from 'zod';
import { unusable } from './secrets/secret-files.ts';

const ROUTER_EXAMPLE = '0197f3a2-6c1e-7d50-9b57-3f1f5e0f7a11=http://router.bakehouse-work';
const dnsLabel = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Settings of the cluster that work goes to. */
export const clusterSettings = {
  /** Sends work to the cluster of this kubeconfig; `in-cluster`: to that of the pod that this process runs in. */
  BAKEHOUSE_KUBECONFIG: z.string().optional(),
  /** Where its Jobs and Secrets are made. */
  BAKEHOUSE_KUBERNETES_NAMESPACE: z
    .string()
    .max(63)
    .regex(dnsLabel, 'must be the name of a namespace, such as bakehouse-work')
    .default('bakehouse-work'),
  /** Images of the runtime for work on processors and on GPUs; one alone does both. */
  BAKEHOUSE_KUBERNETES_IMAGE: z.string().optional(),
  BAKEHOUSE_KUBERNETES_CUDA_IMAGE: z.string().optional(),
  /** Where pods reach this server; the public URL unless said. */
  BAKEHOUSE_KUBERNETES_SERVER_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Whether work without a GPU goes there too. */
  BAKEHOUSE_KUBERNETES_CPU_RUNS: z.stringbool().default(false),
  /** Kueue's ClusterQueues by what waits in them, such as `cpu=general,NVIDIA_H100_80GB=h100`; a name alone takes the rest. */
  BAKEHOUSE_KUEUE_QUEUES: z
    .string()
    .regex(
      /^\s*([A-Za-z0-9_-]+=)?[a-z0-9][a-z0-9-]{0,29}(\s*,\s*([A-Za-z0-9_-]+=)?[a-z0-9][a-z0-9-]{0,29})*\s*$/,
      'must be names of ClusterQueues with up to 30 characters, such as cpu=general,NVIDIA_H100_80GB=h100',
    )
    .optional(),
  /** Routers in front of the replicas of a deployment, as `id of the deployment=address`; comma-separated. */
  BAKEHOUSE_ROUTERS: z.string().default('').transform(readRouters),
  /** What the model servers behind routers ask for, in place of a key of each. */
  BAKEHOUSE_MODEL_SERVER_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,}$/, 'must have 32 characters or more, without spaces')
    .optional(),
};

/** The addresses of routers by the deployments that they are in front of. */
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

/** Whether paths can be appended to it. */
function isBase(url: string): boolean {
  return z.url({ protocol: /^https?$/ }).safeParse(url).success && !/[?#@]|\/v1\/*$/.test(url);
}

/** The routers in front of model servers, by deployments, and the key that these ask for. */
export type Routing = { routers: ReadonlyMap<string, string>; key: string };

/** The routers of the settings. Throws an error that names what is missing: a router passes one key on, whichever replica it chooses. */
export function routingOf(s: Settings): Routing | null {
  const { BAKEHOUSE_ROUTERS: routers, BAKEHOUSE_MODEL_SERVER_KEY: key } = s;
  if (routers.size === 0) return null;
  if (s.BAKEHOUSE_KUBECONFIG === undefined)
    throw unusable(['BAKEHOUSE_KUBECONFIG: is missing beside BAKEHOUSE_ROUTERS']);
  if (key === undefined) throw unusable(['BAKEHOUSE_MODEL_SERVER_KEY: is missing beside BAKEHOUSE_ROUTERS']);
  return { routers, key };
}

/**
 * ClusterQueues by what may wait in them: a type of GPU, `cpu`, or `*` for all that is not named. Several take turns by
 * user, as each offers one workload at a time.
 */
export type Queues = ReadonlyMap<string, string[]>;

/** Reads `cpu=general,NVIDIA_H100_80GB=h100-a,NVIDIA_H100_80GB=h100-b,rest`. Pure. */
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

/** The cluster of the settings; null where they name none. Throws an error that names what is missing beside it. */
export function clusterOf(s: Settings, publicUrl: string) {
  const { BAKEHOUSE_KUBECONFIG: kubeconfig, BAKEHOUSE_KUBERNETES_IMAGE: image } = s;
  if (kubeconfig === undefined) {
    if (image) throw unusable(['BAKEHOUSE_KUBECONFIG: is missing beside BAKEHOUSE_KUBERNETES_IMAGE']);
    return null;
  }
  if (image === undefined)
    throw unusable(['BAKEHOUSE_KUBERNETES_IMAGE: is missing beside BAKEHOUSE_KUBECONFIG']);
  const cpuWork = s.BAKEHOUSE_KUBERNETES_CPU_RUNS;
  const queues = s.BAKEHOUSE_KUEUE_QUEUES === undefined ? null : parseQueues(s.BAKEHOUSE_KUEUE_QUEUES);
  if (cpuWork && queues && !queues.has('cpu') && !queues.has('*'))
    throw unusable([
      'BAKEHOUSE_KUEUE_QUEUES: names no queue for cpu, and BAKEHOUSE_KUBERNETES_CPU_RUNS sends work without a GPU there: add cpu=QUEUE',
    ]);
  return {
    kubeconfig,
    namespace: s.BAKEHOUSE_KUBERNETES_NAMESPACE,
    ...{ image, cudaImage: s.BAKEHOUSE_KUBERNETES_CUDA_IMAGE ?? image },
    serverUrl: s.BAKEHOUSE_KUBERNETES_SERVER_URL ?? publicUrl,
    cpuWork,
    queues,
  };
}
