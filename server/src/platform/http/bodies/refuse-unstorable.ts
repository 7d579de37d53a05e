import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findUnstorable } from '../../db/storable-text.ts';
import { AppError } from '../../errors.ts';
import { asksForPage, PAGE_ROUTE } from '../web-app.ts';

/** Far deeper than any body of the API, and safe for recursive code. */
const DEPTH_MAX = 100;
/** Names of a path that an error message shows. */
const NAMES_MAX = 10;

/**
 * Responds with 400, naming the field, if a path, query or parsed body contains text that PostgreSQL cannot
 * store, or if a body is nested too deeply. Reports of workloads are cleaned instead, because they quote
 * libraries and data files. Pages of the web app are sent whatever their path contains. Streamed bodies are
 * not checked.
 */
export function refuseUnstorable(app: FastifyInstance): void {
  // Before authentication, which looks up the workload that the path names.
  app.addHook('onRequest', async (request) => {
    // Uses the route and not the URL, which may be percent-encoded.
    if (isPage(request)) return;
    refuse(request.params);
    refuse(request.query);
  });
  app.addHook('preValidation', async (request) => {
    if (request.caller.kind === 'workload' || ArrayBuffer.isView(request.body)) return;
    refuseDepth(request.body);
    refuse(request.body);
  });
}

function isPage(request: FastifyRequest): boolean {
  return asksForPage(request) && (request.is404 || request.routeOptions.url === PAGE_ROUTE);
}

/** Not recursive: the sender controls the depth. */
function refuseDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; depth <= DEPTH_MAX; depth += 1) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
    if (level.length === 0) return;
  }
  throw new AppError('invalid_request', {
    publicMessage: `The body is nested more than ${DEPTH_MAX} levels deep`,
  });
}

function refuse(input: unknown): void {
  const path = findUnstorable(input);
  if (path === null) return;
  const param = path.slice(0, NAMES_MAX).join('.');
  throw new AppError('invalid_request', {
    publicMessage: `${param} contains a character that cannot be stored: NUL or half of a surrogate pair. Remove it`,
    param,
  });
}
