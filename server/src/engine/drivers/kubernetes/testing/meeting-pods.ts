import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../../testing/ports/free-port.ts';
import { ApiError, type Cluster } from '../cluster.ts';
import type { WholePod } from './fake-kubelet.ts';
import type { NodeScript } from './script-runner.ts';

type Labels = Record<string, string>;
type Service = { spec: { clusterIP?: string; selector: Labels } };
type Selector = { podSelector: { matchLabels: Labels } };
type Policy = { spec: Selector & { ingress: { from: Selector[] }[] } };

const PROGRAM = fileURLToPath(import.meta.resolve('./meeting-process.ts'));

/**
 * Runs each node as a local process that only connects to the other nodes. Names are resolved from Services
 * and pod names, like cluster DNS does. A connection is made only if a NetworkPolicy allows it.
 */
export function meetingPods(cluster: Cluster): NodeScript {
  /** Local port that represents the port of a pod, by pod name. */
  const ports = new Map<string, Promise<number>>();

  async function environmentOf(pod: WholePod, ended: AbortSignal): Promise<NodeJS.ProcessEnv> {
    const told = Object.fromEntries(
      (pod.spec.containers[0]?.env ?? []).map(({ name, value, valueFrom }) => [
        name,
        value ?? readField(pod, valueFrom?.fieldRef.fieldPath ?? ''),
      ]),
    );
    const master = await lookUp(cluster, pod, told.PET_MASTER_ADDR ?? '', ended);
    const port = ports.get(master) ?? freePort();
    ports.set(master, port);
    return { ...told, PET_MASTER_ADDR: '127.0.0.1', PET_MASTER_PORT: String(await port) };
  }

  return async (_launch, { pod, stop, killed }) => {
    const ended = AbortSignal.any([stop, killed]);
    const env = await environmentOf(pod, ended);
    const child = spawn(process.execPath, [PROGRAM], { env, stdio: 'ignore', signal: ended });
    child.on('error', () => undefined);
    const [status] = (await once(child, 'exit')) as [number | null];
    return status ?? 143;
  };
}

function readField(pod: WholePod, field: string): string | undefined {
  const [, annotation = ''] = /^metadata\.annotations\['(.*)'\]$/.exec(field) ?? [];
  return pod.metadata.annotations?.[annotation];
}

/** Returns the pod with this name that `from` may reach, as soon as it exists. */
async function lookUp(cluster: Cluster, from: WholePod, name: string, signal: AbortSignal): Promise<string> {
  const [hostname, subdomain = ''] = name.split('.');
  const list = async <One>(group: string, kind: string) => {
    const { items } = await cluster.call<{ items: One[] }>(
      'GET',
      `/${group}/v1/namespaces/${cluster.namespace}/${kind}`,
    );
    return items;
  };
  for (;;) {
    const service = await cluster
      .call<Service>('GET', `/api/v1/namespaces/${cluster.namespace}/services/${subdomain}`)
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      });
    const pods = await list<WholePod>('api', 'pods');
    const found = pods.find(
      ({ spec, metadata }) =>
        service?.spec.clusterIP === 'None' &&
        has(metadata.labels, service.spec.selector) &&
        spec.hostname === hostname &&
        spec.subdomain === subdomain,
    );
    const policies = await list<Policy>('apis/networking.k8s.io', 'networkpolicies');
    if (found && isLetThrough(policies, from, found)) return found.metadata.name;
    await sleep(50, null, { signal });
  }
}

function isLetThrough(policies: Policy[], from: WholePod, to: WholePod): boolean {
  return policies.some(
    ({ spec }) =>
      has(to.metadata.labels, spec.podSelector.matchLabels) &&
      spec.ingress.some((rule) =>
        rule.from.some(({ podSelector }) => has(from.metadata.labels, podSelector.matchLabels)),
      ),
  );
}

function has(labels: Labels = {}, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
