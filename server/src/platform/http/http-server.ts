import { randomUUID } from 'node:crypto';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Caller, Context, Services, UserCaller, WorkloadCaller } from '../context.ts';
import { AppError } from '../errors.ts';
import type { Binding } from './bind.ts';
import { closeGracefully } from './graceful-close.ts';
import { measureHttp } from './measure-http.ts';
import { describeInOpenApi } from './openapi.ts';
import { type GuardStrangers, limitCalls } from './rate-limits.ts';
import { refuseUnstorable } from './refuse-unstorable.ts';
import { sendError } from './send-error.ts';
import { serveWebApp } from './web-app.ts';

/** How callers are recognised; the modules that own users and workloads provide it. */
export type Authenticators = {
  /** Owner of the API key; null when the key is nobody's. */
  key: (key: string) => Promise<UserCaller | null>;
  /** Owner of the browser's session cookie. */
  session: (request: FastifyRequest) => Promise<UserCaller | null>;
  workload: (workloadId: string, token: string) => Promise<WorkloadCaller | null>;
};

type Options = {
  services: Services;
  metrics: Registry;
  /** Rejects, and soon, when this process cannot answer, e.g. without its database. */
  checkReady: () => Promise<unknown>;
  authenticators: Authenticators;
  bindings: Binding[];
  /** What is not described in the contract, e.g. the sign-in library's own paths. */
  plugins: FastifyPluginAsync[];
  /** Folder of the built web app. */
  webDist: string;
};

/** Builds the HTTP server with every binding mounted. It does not listen yet. */
export async function buildHttpServer(options: Options): Promise<FastifyInstance> {
  const { services, authenticators } = options;
  const log: FastifyBaseLogger = services.log.child({ part: 'http' });
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (request) => headerText(request.headers['x-request-id'])?.slice(0, 100) ?? randomUUID(),
    requestIdHeader: false,
    trustProxy: services.config.trustedProxies,
    bodyLimit: 8 * 1024 * 1024,
    routerOptions: { maxParamLength: 512 },
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendError);
  // Bytes are not read here: the handler streams them from `request.raw`.
  app.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
  closeGracefully(app);
  app.addHook('onRequest', async (request, reply) => {
    request.caller = { kind: 'nobody' };
    reply.header('x-request-id', request.id);
  });
  refuseUnstorable(app);

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
  // The parser cuts a file at its limit without an error: one byte more lets the store see the excess.
  await app.register(multipart, { limits: { fileSize: FILE_SIZE_LIMIT_BYTES + 1, files: 1, fields: 10 } });
  const guardStrangers = await limitCalls(app, services.config.rateLimitPerMinute);

  await describeInOpenApi(
    app,
    options.bindings.map(({ endpoint }) => endpoint),
  );
  measureHttp(app, options.metrics);
  mountHealth(app, options);
  for (const binding of options.bindings) mount(app, { services, authenticators, guardStrangers }, binding);
  for (const plugin of options.plugins) await app.register(plugin);
  await serveWebApp(app, options.webDist);
  return app;
}

type MountOptions = Pick<Options, 'services' | 'authenticators'> & { guardStrangers: GuardStrangers };

function mountHealth(
  app: FastifyInstance,
  { metrics, checkReady }: Pick<Options, 'metrics' | 'checkReady'>,
): void {
  const options = { config: { rateLimit: false }, schema: { hide: true } } as const;
  app.get('/healthz', options, async () => ({ status: 'ok' }));
  app.get('/readyz', options, async () => {
    await checkReady().catch((cause: unknown) => {
      throw new AppError('unavailable', { publicMessage: 'The database does not answer', cause });
    });
    return { status: 'ok' };
  });
  app.get('/metrics', options, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.metrics()),
  );
}

function mount(
  app: FastifyInstance,
  { services, authenticators, guardStrangers }: MountOptions,
  binding: Binding,
): void {
  const { endpoint, handle } = binding;
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    config: { rateLimit: limitOf(binding) },
    schema: {
      summary: endpoint.summary,
      tags: [endpoint.path.startsWith('/v1/') ? 'openai' : (endpoint.path.split('/')[3] ?? '')],
      security:
        endpoint.access === 'public'
          ? []
          : [{ [endpoint.access === 'operator' ? 'key' : endpoint.access]: [] }],
      ...(endpoint.params && { params: endpoint.params }),
      ...(endpoint.query && { querystring: endpoint.query }),
      ...(endpoint.body && { body: endpoint.body }),
      ...(endpoint.response && { response: { [endpoint.status ?? 200]: endpoint.response } }),
    },
    // Access is checked before the body is read, so that strangers cannot make the server parse.
    onRequest: async (request, reply) => {
      request.caller = await guardStrangers(request, reply, () =>
        findCaller(request, binding, authenticators),
      );
    },
    // Before validation: whose it is comes first.
    preValidation: async (request) => {
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
      // Fastify sends a string as it is, and would not make JSON of it.
      const body = typeof output === 'string' ? JSON.stringify(output) : output;
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    },
  });
}

/** Workloads are ours, and report as often as they must. */
function limitOf(binding: Binding) {
  if (binding.endpoint.access === 'workload') return false;
  return binding.callsPerMinute === undefined ? {} : { max: binding.callsPerMinute };
}

async function findCaller(
  request: FastifyRequest,
  binding: Binding,
  authenticators: Authenticators,
): Promise<Caller> {
  const { access } = binding.endpoint;
  if (access === 'public') return { kind: 'nobody' };
  if (access === 'workload') {
    const token = readBearer(request);
    const { workloadId } = request.params as { workloadId: string };
    const workload = token ? await authenticators.workload(workloadId, token) : null;
    if (!workload)
      throw new AppError('unauthenticated', { publicMessage: 'This workload token is not valid' });
    return workload;
  }
  if (access === 'session') {
    const user = await authenticators.session(request);
    if (!user) throw new AppError('unauthenticated', { publicMessage: 'Sign in first' });
    return user;
  }
  const key = readKey(request);
  if (!key) {
    throw new AppError('unauthenticated', {
      publicMessage: 'API key not found. Send it in the X-API-KEY header',
    });
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
