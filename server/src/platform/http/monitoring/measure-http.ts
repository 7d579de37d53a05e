import type { FastifyInstance } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/** Adds the duration of every request, by route and status, to the metrics. */
export function measureHttp(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'bakehouse_http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    // The route's pattern, never the path: paths hold ids and would grow without end.
    const route = request.routeOptions.url ?? 'none';
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
}
