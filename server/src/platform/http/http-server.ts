import { randomUUID } from 'node:crypto';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Caller, Context, Services, UserCaller, WorkloadCaller } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Binding } from './bind.ts';
import { sendError } from './send-error.ts';

/** How callers are recognised; the modules that own users and workloads provide it. */
export type Authenticators = {
  /** Owner of the API key; null when the key is nobody's. */
  key: (key: string) => Promise<UserCaller | null>;
  /** Owner of the browser's session cookie. */
  session: (request: FastifyRequest) => Promise<UserCaller | null>;
  workload: (workloadId: string, token: string) => Promise<WorkloadCaller | null>;
};

/** Builds the HTTP server with every binding mounted. It does not listen yet. */
export async function buildHttpServer(
  services: Services,
  authenticators: Authenticators,
  bindings: Binding[],
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: services.log.child({ part: 'http' }),
    disableRequestLogging: true,
    genReqId: (request) => headerText(request.headers['x-request-id'])?.slice(0, 100) ?? randomUUID(),
    requestIdHeader: false,
    trustProxy: true,
    bodyLimit: 8 * 1024 * 1024,
    routerOptions: { maxParamLength: 512 },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request) => {
    throw new AppError('not_found', { publicMessage: `There is no ${request.method} ${request.url.split('?')[0]}` });
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });

  await app.register(helmet, {
    contentSecurityPolicy: {
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:', 'blob:'],
        connectSrc: ["'self'"],
        objectSrc: ["'none'"],
        frameAncestors: ["'none'"],
        upgradeInsecureRequests: null,
      },
    },
    hsts: false,
  });
  await app.register(multipart, { limits: { fileSize: FILE_SIZE_LIMIT_BYTES, files: 1, fields: 10 } });
  if (services.config.rateLimitPerMinute > 0) {
    await app.register(rateLimit, {
      max: services.config.rateLimitPerMinute,
      timeWindow: '1 minute',
      enableDraftSpec: true,
      keyGenerator: (request) => readKey(request) ?? request.ip,
      errorResponseBuilder: (_request, limit) =>
        new AppError('rate_limited', { publicMessage: `Too many requests. Try again in ${limit.after}.` }),
    });
  }

  for (const binding of bindings) mount(app, services, authenticators, binding);
  return app;
}

function mount(app: FastifyInstance, services: Services, authenticators: Authenticators, binding: Binding): void {
  const { endpoint, handle } = binding;
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    schema: {
      summary: endpoint.summary,
      ...(endpoint.params && { params: endpoint.params }),
      ...(endpoint.query && { querystring: endpoint.query }),
      ...(endpoint.body && { body: endpoint.body }),
      ...(endpoint.response && { response: { [endpoint.status ?? 200]: endpoint.response } }),
    },
    // Access is checked before the body is read, so that strangers cannot make the server parse.
    onRequest: async (request) => {
      request.caller = await findCaller(request, binding, authenticators);
    },
    preHandler: async (request) => {
      if (request.caller.kind === 'user') refuseForeignIds(request, request.caller);
    },
    handler: async (request, reply) => {
      const ctx: Context<Caller> = {
        ...services,
        log: services.log.child({ request_id: request.id }),
        caller: request.caller,
        requestId: request.id,
        idempotencyKey: headerText(request.headers['idempotency-key']) ?? null,
      };
      const input = { params: request.params, query: request.query, body: request.body };
      const output = await handle(ctx, input, { request, reply });
      if (reply.sent || reply.raw.headersSent) return reply;
      reply.code(endpoint.status ?? 200);
      if (endpoint.response === undefined) return reply.send();
      return reply.header('content-type', 'application/json; charset=utf-8').send(output);
    },
  });
}

async function findCaller(request: FastifyRequest, binding: Binding, authenticators: Authenticators): Promise<Caller> {
  const { access } = binding.endpoint;
  if (access === 'public') return { kind: 'nobody' };
  if (access === 'workload') {
    const token = readBearer(request);
    const { workloadId } = request.params as { workloadId: string };
    const workload = token ? await authenticators.workload(workloadId, token) : null;
    if (!workload) throw new AppError('unauthenticated', { publicMessage: 'This workload token is not valid' });
    return workload;
  }
  if (access === 'session') {
    const user = await authenticators.session(request);
    if (!user) throw new AppError('unauthenticated', { publicMessage: 'Sign in first' });
    return user;
  }
  const key = readKey(request);
  if (!key) {
    throw new AppError('unauthenticated', { publicMessage: 'API key not found. Send it in the X-API-KEY header' });
  }
  const user = await authenticators.key(key);
  if (!user) throw new AppError('unauthenticated', { publicMessage: 'This API key is not valid' });
  if (access === 'operator' && !user.isOperator) {
    throw new AppError('forbidden', { publicMessage: 'Only an operator may do this' });
  }
  return user;
}

/** The key's owner is the only truth: any other user id in the input is refused, wherever it stands. */
function refuseForeignIds(request: FastifyRequest, caller: UserCaller): void {
  const owners: [string, unknown][] = [
    ['userId', field(request.params, 'userId')],
    ['user_id', field(request.query, 'user_id')],
    ['owner', field(request.query, 'owner')],
    ['user_id', field(request.body, 'user_id')],
    ['fine_tune_payload.user_id', field(field(request.body, 'fine_tune_payload'), 'user_id')],
  ];
  for (const [param, value] of owners) {
    if (value !== undefined && value !== caller.userId) {
      throw new AppError('forbidden', { publicMessage: 'This belongs to another user', param });
    }
  }
}

function field(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null && name in object
    ? (object as Record<string, unknown>)[name]
    : undefined;
}

function readKey(request: FastifyRequest): string | null {
  return headerText(request.headers['x-api-key']) ?? readBearer(request);
}

function readBearer(request: FastifyRequest): string | null {
  const match = /^Bearer\s+(\S+)$/i.exec(headerText(request.headers.authorization) ?? '');
  return match?.[1] ?? null;
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}
