import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findUnstorable } from '../../db/storable-text.ts';
import { AppError } from '../../errors.ts';
import { asksForPage, PAGE_ROUTE } from '../web-app.ts';

/** Far deeper than anything of ours; what goes through a value by calling itself bears as much. */
const DEPTH_MAX = 100;
/** No field of ours lies deeper; a stranger's may lie a million levels deep. */
const NAMES_MAX = 10;

/**
 * Answers 400, naming the field, where a path, query or parsed body holds text that PostgreSQL
 * refuses: no use case has to think of it. What workloads report is taken and cleaned instead,
 * since it quotes what libraries and data files say. A page of the web app is sent whatever its path
 * holds: what it then asks for is refused, and the page says so. Bodies that are streamed are not looked at.
 * Bodies that are nested too deeply are refused too.
 */
export function refuseUnstorable(app: FastifyInstance): void {
  // Before authentication, which looks for the workload that the path names.
  app.addHook('onRequest', async (request) => {
    // By the route that was found, not by the address, in which each letter may be encoded.
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

/** Not recursive: a stranger chose the depth. */
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
