import { randomUUID } from 'node:crypto';
import { BODY_BYTES_MAX, type Endpoint } from '@bakehouse/contract/endpoint';
import { FILE_SIZE_LIMIT_BYTES } from '@bakehouse/contract/limits';
import multipart from '@fastify/multipart';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import helmet from 'helmet';
import type { Registry } from 'prom-client';
import type { Caller, Context, Services } from '../context.ts';
import { invalidParam } from '../errors.ts';
import { writeAnswer } from './answer.ts';
import type { Binding } from './bind.ts';
import { closeSlowBodies, largestBytes, limitBufferedBodies } from './bodies/body-limits.ts';
import { rejectUnstorable } from './bodies/parse-fields.ts';
import { readBodies } from './bodies/read-body.ts';
import { assertOwnIds } from './callers/assert-own-ids.ts';
import { type Authenticators, findCaller, headerText } from './callers/find-caller.ts';
import { limitPipelining } from './callers/limit-pipelining.ts';
import { type CountCall, callerOf, limitBy, limitCalls, siteOf } from './callers/rate-limits.ts';
import { clientOf, onClose } from './connection.ts';
import { closeGracefully } from './graceful-close.ts';
import { measureHttp, mountHealth } from './monitoring/monitoring.ts';
import { describeInOpenApi, type Paths } from './openapi.ts';
import { sendError } from './send-error.ts';
import { rejectOtherMethods } from './unknown-calls.ts';
import { routedUrl, serveWebApp } from './web-app.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** Response headers that scripts of other sites may read. */
const READABLE =
  'x-request-id, request-id, retry-after, x-should-retry, ratelimit-limit, ratelimit-remaining, ratelimit-reset, bakehouse-warning';

const PREFLIGHT_SECONDS = 24 * 60 * 60;

/** OpenAPI security schemes by access. */
const SCHEMES = {
  session: ['session'],
  key: ['key'],
  key_or_session: ['key', 'session'],
  operator: ['key'],
  workload: ['workload'],
};

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
}

type Options = {
  services: Services;
  metrics: Registry;
  /** Rejects quickly if this process cannot serve requests, for example without its database. */
  checkReady: () => Promise<unknown>;
  authenticators: Authenticators;
  bindings: Binding[];
  /** Routes outside the contract, such as the sign-in library's own paths. */
  plugins: FastifyPluginAsync[];
  /** Names of the endpoints in the OpenAPI document. */
  operationIds: Map<Endpoint, string>;
  /** OpenAPI descriptions of the plugins' paths. */
  furtherPaths: Paths;
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
    bodyLimit: BODY_BYTES_MAX,
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    rewriteUrl: routedUrl,
    // For errors before a route is known, such as a parameter that is too long.
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendError);
  // Must come before all other hooks, so that requests that it cuts do not count as calls.
  limitPipelining(app);
  // Must come before the other hooks, so that requests that they reject are measured too.
  measureHttp(app, options.metrics);
  readBodies(app);
  allowOtherSites(app);
  closeGracefully(app, options.services.config.drainSeconds);
  app.addHook('onRequest', async (request, reply) => {
    request.caller = { kind: 'nobody' };
    reply.header('x-request-id', request.id);
    assertSingleHost(request);
  });
  closeSlowBodies(app);
  rejectUnstorable(app);

  addSecurityHeaders(app, services.blobs.linkOrigin);
  // The parser truncates a file at its limit without an error. With one more byte, the store notices that the
  // file is too large.
  await app.register(multipart, { limits: { fileSize: FILE_SIZE_LIMIT_BYTES + 1, files: 1, fields: 10 } });
  const limits = await limitCalls(app, services);

  const endpoints = options.bindings.map(({ endpoint }) => endpoint);
  await describeInOpenApi(app, {
    endpoints,
    operationIds: options.operationIds,
    furtherPaths: options.furtherPaths,
    publicUrl: services.config.publicUrl,
    countCall: limits.countCall,
  });
  mountHealth(app, { ...options, config: services.config });
  const mounted = { services, authenticators, ...limits, enterBodyRoom: limitBufferedBodies(app) };
  for (const binding of options.bindings) mount(app, mounted, binding);
  rejectOtherMethods(
    app,
    options.bindings.map(({ endpoint, describeError }) => ({ ...endpoint, describeError })),
  );
  for (const plugin of options.plugins) await app.register(plugin);
  await serveWebApp(app, options.webDist);
  return app;
}

/**
 * Computes the security headers once, because the Fastify plugin would compute them for every request.
 * Responses are private and not cached unless the handler sets other headers, as for files. `filesOrigin` is
 * the origin of stored images and videos if it is not this server's.
 */
function addSecurityHeaders(app: FastifyInstance, filesOrigin: string | null): void {
  const files = filesOrigin === null ? [] : [filesOrigin];
  const setHeaders = helmet({
    contentSecurityPolicy: {
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:', 'blob:', ...files],
        mediaSrc: ["'self'", ...files],
        connectSrc: ["'self'"],
        objectSrc: ["'none'"],
        frameAncestors: ["'none'"],
        upgradeInsecureRequests: null,
      },
    },
    hsts: false,
  });
  app.addHook('onRequest', (request, reply, done) =>
    setHeaders(request.raw, reply.raw, (error) => done(error instanceof Error ? error : undefined)),
  );
  app.addHook('onSend', async ({ url }, reply) => {
    if (/^\/(api|v1|hub)\//.test(url) && !reply.hasHeader('cache-control'))
      reply.header('cache-control', 'no-store');
  });
}

/** Rejects requests with several Host headers, of which a proxy could use another one than this server. */
function assertSingleHost({ raw }: FastifyRequest): void {
  if ((raw.headersDistinct.host?.length ?? 0) > 1)
    throw invalidParam('Host', 'Send one Host header, not several');
}

type MountOptions = Pick<Options, 'services' | 'authenticators'> &
  Awaited<ReturnType<typeof limitCalls>> & { enterBodyRoom: ReturnType<typeof limitBufferedBodies> };

function mount(
  app: FastifyInstance,
  { services, authenticators, limitFailures, countCall, enterBodyRoom }: MountOptions,
  binding: Binding,
): void {
  const { endpoint, handle } = binding;
  const counts = countsOf(app, binding, { countCall, config: services.config });
  app.route({
    method: endpoint.method,
    url: endpoint.path,
    bodyLimit: endpoint.bodyBytesMax ?? BODY_BYTES_MAX,
    config: {
      formPart: formPartOf(endpoint),
      isForm: endpoint.isForm,
      describeError: binding.describeError,
    },
    schema: {
      summary: endpoint.summary,
      tags: [tagOf(endpoint.path)],
      security:
        endpoint.access === 'public' ? [] : SCHEMES[endpoint.access].map((scheme) => ({ [scheme]: [] })),
      ...(endpoint.params && { params: endpoint.params }),
      ...(endpoint.query && { querystring: endpoint.query }),
      ...(endpoint.body && { body: endpoint.body }),
      ...(endpoint.response && { response: answersOf(endpoint, endpoint.response) }),
    },
    // Check access before the body is read, so that the server does not parse bodies of unauthenticated
    // callers.
    onRequest: async (request, reply) => {
      request.caller = await limitFailures(request, reply, () =>
        findCaller(request, endpoint, { authenticators, publicUrl: services.config.publicUrl }),
      );
    },
    // After authentication, but before the body is read.
    preParsing: async (request, reply) => {
      // Ignore the content type that the client sent.
      if (endpoint.upload === 'bytes') request.headers['content-type'] = 'application/octet-stream';
      // Workloads are trusted, so their reports are not limited.
      if (endpoint.access === 'workload') return;
      for (const count of counts) await count(request, reply);
      if (request.caller.kind === 'user') {
        const leave = binding.beforeBody?.(services, request.caller, largestBytes(request));
        if (leave) onClose(reply, leave);
      }
      if (endpoint.isHeldInMemory) await enterBodyRoom(request, reply);
    },
    // Check the owner before validating the input.
    preValidation: async (request) => {
      if (endpoint.method === 'DELETE' && endpoint.body) nameMissingFields(request);
      if (request.caller.kind === 'user') assertOwnIds(request, request.caller.userId);
      if (endpoint.upload) request.liftBodyDeadline();
    },
    preHandler: binding.countCall ?? [],
    handler: async (request, reply) => {
      const ctx: Context<Caller> = {
        ...services,
        log: services.log.child({ request_id: request.id }),
        caller: request.caller,
        requestId: request.id,
        idempotencyKey: headerText(request.headers['idempotency-key']) ?? null,
      };
      const output = await handle(ctx, inputOf(request), { request, client: clientOf(reply) });
      return writeAnswer(ctx, endpoint, reply, output);
    },
  });
}

/** Returns the limits of a call: the server's own or its replacement, and the binding's stricter ones. */
function countsOf(
  app: FastifyInstance,
  { endpoint, callsPerMinute, callsPerHour, ownCallsPerMinute }: Binding,
  { countCall, config }: { countCall: CountCall; config: Services['config'] },
): CountCall[] {
  const hasOwnCount = ownCallsPerMinute !== undefined && config.rateLimitPerMinute > 0;
  const name = `${endpoint.method} ${endpoint.path}`;
  return [
    hasOwnCount ? limitBy(app, { name: `own ${name}`, max: ownCallsPerMinute, keyOf: callerOf }) : countCall,
    ...(callsPerMinute === undefined ? [] : [limitBy(app, { name, max: callsPerMinute, keyOf: callerOf })]),
    ...(callsPerHour === undefined
      ? []
      : [limitBy(app, { name: `hourly ${name}`, max: callsPerHour, keyOf: siteOf, per: 'hour' })]),
  ];
}

/**
 * Returns the name of the file's part, for the error about a body that is not a form; undefined if JSON is
 * accepted as well.
 */
function formPartOf({ upload }: Endpoint): string | undefined {
  return typeof upload === 'object' && !upload.orJson ? upload.part : undefined;
}

/** Many clients send no body with DELETE. An empty object makes the error name the missing fields. */
function nameMissingFields(request: FastifyRequest): void {
  request.body ??= {};
}

/** Returns the OpenAPI tag of an endpoint. */
function tagOf(path: string): string {
  if (path.startsWith('/v1/messages')) return 'anthropic';
  if (path.startsWith('/v1/')) return 'openai';
  if (path.startsWith('/hub/')) return 'hub';
  return path.split('/')[3] ?? '';
}

function inputOf(request: FastifyRequest) {
  return {
    params: request.params,
    query: request.query,
    // A getter, so that only the request references the body and `releaseBody` can release it.
    get body() {
      return request.body;
    },
  };
}

/** Returns the schema of each success status. */
function answersOf(
  { status = 200, pendingStatus }: Endpoint,
  response: NonNullable<Endpoint['response']>,
): Record<number, NonNullable<Endpoint['response']>> {
  return { [status]: response, ...(pendingStatus !== undefined && { [pendingStatus]: response }) };
}

/**
 * Lets pages of every site call the paths of OpenAI's API (`/v1/…`), as OpenAI does. These paths ignore
 * cookies, so a page can only do what its key allows.
 */
function allowOtherSites(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith('/v1/')) return;
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': READABLE });
    const { 'access-control-request-method': method, 'access-control-request-headers': headers } =
      request.headers;
    // Answer preflight requests before authentication, because they carry no key.
    if (request.method !== 'OPTIONS' || method === undefined) return;
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': METHODS,
        ...(headers !== undefined && { 'access-control-allow-headers': headers }),
        'access-control-max-age': PREFLIGHT_SECONDS,
        vary: 'access-control-request-headers',
      })
      .send();
  });
}
