import type { FastifyInstance } from 'fastify';
import { Histogram, type Registry } from 'prom-client';
import { onClose } from '../on-close.ts';

/** Nginx's status for a client that disconnected before its response was complete. */
const CLIENT_LEFT = 499;

/** Adds the duration of every request, by route and status, to the metrics. */
export function measureHttp(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'bakehouse_http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 2000],
    registers: [registry],
  });
  app.addHook('onRequest', async (request, reply) => {
    const began = performance.now();
    // Fastify's own hook for the end does not run if the client disconnects.
    onClose(reply, () => {
      // The route's pattern, never the path: paths contain ids and would create unlimited series.
      const route = request.routeOptions.url ?? 'none';
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_LEFT;
      durations.observe({ method: request.method, route, status }, (performance.now() - began) / 1000);
    });
  });
}
