import type { Config } from './config.ts';
import { POD_CPUS } from './engine/drivers/kubernetes/attempt-job.ts';
import { checkCluster } from './engine/drivers/kubernetes/check-cluster.ts';
import { ApiError, openCluster } from './engine/drivers/kubernetes/cluster.ts';
import { createKubernetesDriver } from './engine/drivers/kubernetes/kubernetes-driver.ts';
import { createEngine, type Engine } from './engine/engine.ts';
import { registerCluster } from './engine/machines/register-cluster.ts';
import type { WorkloadKinds } from './engine/model/workload-kind.ts';
import type { Services } from './platform/context.ts';

type Parts = {
  services: Services;
  kinds: WorkloadKinds;
  cluster: NonNullable<Config['cluster']>;
};

const RETRY_MS = 10_000;
const RETRY_REJECTED_MS = 600_000;

/**
 * Runs the work in a cluster, which other modules treat as one machine. Several processes may do so at the
 * same time, because each action requires a lease. `start` throws a plain sentence if the cluster cannot
 * accept work. While the cluster is unreachable, work waits.
 */
export function clusterEngine(parts: Parts): Pick<Engine, 'start' | 'shutdown'> {
  const { log } = parts.services;
  let engine: Engine | null = null;
  let retry: NodeJS.Timeout | undefined;
  let ended = false;

  async function start(): Promise<void> {
    try {
      engine = await openEngine(parts);
    } catch (error) {
      if (!isOutOfReach(error)) throw error;
      log.warn({ err: error }, `cluster unreachable; retrying every ${RETRY_MS / 1000} s`);
      retry = setTimeout(() => void startLater(), RETRY_MS).unref();
      return;
    }
    if (ended) await engine.shutdown();
    else await engine.start();
  }

  async function startLater(): Promise<void> {
    if (ended) return;
    await start().catch((error: unknown) => {
      if (error instanceof WrongSettings) {
        // Certificates and proxies of a starting cluster can look like wrong settings.
        log.error(
          { err: error },
          'the cluster rejects the settings; it gets no work until they are corrected',
        );
        retry = setTimeout(() => void startLater(), RETRY_REJECTED_MS).unref();
        return;
      }
      log.error({ err: error }, 'failed to connect to the cluster; retrying');
      retry = setTimeout(() => void startLater(), RETRY_MS).unref();
    });
  }

  return {
    start,
    shutdown: async () => {
      ended = true;
      clearTimeout(retry);
      await engine?.shutdown();
    },
  };
}

const UNREACHABLE =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ABORT_ERR)$/;

/** True if the cluster is unreachable or failing; false if the settings are wrong. */
function isOutOfReach(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500 || error.status === 429;
  return UNREACHABLE.test((error as NodeJS.ErrnoException).code ?? '');
}

/** The cluster is reachable, but cannot be used with the settings. */
class WrongSettings extends Error {}

/** Connects to the cluster and checks it. Throws WrongSettings, and errors of a cluster out of reach. */
async function openChecked({ kubeconfig, namespace, queues }: Parts['cluster']) {
  let api: Awaited<ReturnType<typeof openCluster>> | undefined;
  try {
    api = await openCluster({ kubeconfig, namespace });
    // A starting API server denies everything. Servers that hide this path are not checked.
    await api.readText('/readyz').catch((error: unknown) => {
      if (isOutOfReach(error)) throw error;
    });
    return { api, ...(await checkCluster(api, { kueue: queues !== null })) };
  } catch (error) {
    api?.close();
    if (isOutOfReach(error) || !(error instanceof Error)) throw error;
    throw new WrongSettings(error.message, { cause: error });
  }
}

async function openEngine({ services, kinds, cluster }: Parts): Promise<Engine> {
  const { db, log, clock } = services;
  const { image, cudaImage, podParts, cpuWork, queues, serverUrl } = cluster;
  const { api, id } = await openChecked(cluster);
  await registerCluster(db, { id, name: api.name, now: clock.now() });
  const driver = createKubernetesDriver({
    ...{ cluster: api, pods: { image, cudaImage, parts: podParts }, cpuWork, queues },
    ...{ log: log.child({ part: 'kubernetes' }), now: clock.now },
  });
  const engine = createEngine(services, {
    ...{ driver, kinds, machineId: id, serverUrl: async () => serverUrl, cpu: driver.cpu },
    routing: services.config.routing,
    // The load does not matter, because a pod has its own CPUs.
    cpuLoad: () => ({ busyThreads: 0, cores: POD_CPUS, runThreads: POD_CPUS }),
  });
  return {
    ...engine,
    shutdown: async () => {
      await engine.shutdown();
      await driver.close();
    },
  };
}
