import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { Config } from '../../../config.ts';
import { AppError } from '../../errors.ts';
import { isSameSecret } from '../../signature.ts';

/** Prometheus waits 10 s for the whole response by default. */
const METRIC_MS = 5_000;

type Options = {
  metrics: Registry;
  /** The token gives any caller access to `/metrics`; without a token only this machine may read them. */
  config: Pick<Config, 'metricsToken' | 'publicUrl'>;
  /** Rejects quickly if this process cannot serve requests, e.g. without its database. */
  checkReady: () => Promise<unknown>;
};

/** Mounts `/healthz` for liveness, `/readyz` for readiness and `/metrics` for Prometheus. */
export function mountHealth(app: FastifyInstance, { metrics, config, checkReady }: Options): void {
  const options = { schema: { hide: true } } as const;
  app.get('/healthz', options, async () => ({ status: 'ok' }));
  app.get('/readyz', options, async () => {
    await checkReady().catch((cause: unknown) => {
      if (cause instanceof AppError) throw cause;
      throw new AppError('unavailable', {
        publicMessage: 'The database does not answer or cannot be written to',
        cause,
      });
    });
    return { status: 'ok' };
  });
  app.get('/metrics', options, async (request, reply) => {
    refuseStrangers(request, config);
    return reply.type(metrics.contentType).send(await exposition(metrics));
  });
}

/** Returns metrics in Prometheus' text format, without those that cannot be read now. */
async function exposition(metrics: Registry): Promise<string> {
  const parts = metrics.getMetricsAsArray().map(async ({ name }) => {
    const timeout = sleep(METRIC_MS, null, { ref: false });
    const text = await Promise.race([metrics.getSingleMetricAsString(name), timeout]).catch(() => null);
    return text ?? `# ${name} cannot be read`;
  });
  return `${(await Promise.all(parts)).join('\n\n')}\n`;
}

function refuseStrangers(request: FastifyRequest, { metricsToken, publicUrl }: Options['config']): void {
  if (metricsToken === null) {
    if (isThisMachine(request, publicUrl)) return;
    throw new AppError('forbidden', {
      publicMessage: 'Metrics are for this machine alone, unless BAKEHOUSE_METRICS_TOKEN is set',
    });
  }
  if (isSameSecret(`Bearer ${metricsToken}`, request.headers.authorization ?? '')) return;
  throw new AppError('unauthenticated', { publicMessage: 'This metrics token is not valid' });
}

/** A proxy on this machine sends forwarding headers, or at least the requested host. */
function isThisMachine(request: FastifyRequest, publicUrl: string): boolean {
  const { headers, socket } = request.raw;
  const isForwarded = 'x-forwarded-for' in headers || 'forwarded' in headers || 'via' in headers;
  if (isForwarded || !/^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')) return false;
  return namesThisMachine(publicUrl) || namesThisMachine(`http://${headers.host}`);
}

function namesThisMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
