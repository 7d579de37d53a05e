import type { Endpoint } from '@bakehouse/contract/endpoint';
import { errorBody } from '@bakehouse/contract/errors';
import swagger from '@fastify/swagger';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type * as z from 'zod';
import type { CountCall } from './callers/rate-limits.ts';

type Operation = {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: { name: string; in: string }[];
  requestBody?: object;
  responses?: Record<string, object>;
};

/** Operations by path and method. */
export type Paths = Record<string, Record<string, Operation>>;

type Described = {
  endpoints: Endpoint[];
  operationIds: Map<Endpoint, string>;
  /** Paths outside the contract, such as the sign-in library's own. */
  furtherPaths: Paths;
};

type Document = { paths: Paths; components: { schemas: Record<string, object>; responses?: object } };

const VERSION = '3.1.0';

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeated call with the same key returns the same response and spends nothing. 1 to 255 characters, e.g. a UUID.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Describes endpoints mounted after this call as OpenAPI 3.1: `app.swagger()` and GET /openapi.json. */
export async function describeInOpenApi(
  app: FastifyInstance,
  { countCall, publicUrl, ...described }: Described & { countCall: CountCall; publicUrl: string },
): Promise<void> {
  const { endpoints } = described;
  await app.register(swagger, {
    // Without this, the plugin would convert only inline schemas.
    convertConstToEnum: false,
    openapi: {
      openapi: VERSION,
      info: { title: 'Bakehouse', version: '1' },
      components: {
        securitySchemes: {
          key: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-KEY',
            description: 'The same key as a bearer token.',
          },
          session: { type: 'apiKey', in: 'cookie', name: sessionCookie(publicUrl) },
          workload: { type: 'http', scheme: 'bearer', description: 'The token of one running workload.' },
        },
      },
    },
    // Skip the page of the web app and the sign-in library's own paths.
    transform: (route) => {
      const isOurs = endpoints.some((endpoint) => endpoint.path === route.url);
      return jsonSchemaTransform({
        ...route,
        schema: isOurs ? route.schema : { ...route.schema, hide: true },
      });
    },
    transformObject: (input) => {
      const document = jsonSchemaTransformObject(input);
      complete(document as Document, described);
      return document;
    },
  });
  app.get('/openapi.json', { schema: { hide: true }, preParsing: countCall }, async () => app.swagger());
}

/** The cookie's name in the sign-in library. Browsers accept its prefix only over HTTPS. */
function sessionCookie(publicUrl: string): string {
  return `${publicUrl.startsWith('https://') ? '__Secure-' : ''}bakehouse.session_token`;
}

/** Returns the JSON Schema of one value. Schemas with an id become references to components. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): object {
  const transformed = jsonSchemaTransform({
    schema: io === 'input' ? { body: schema } : { response: { 200: schema } },
    url: '',
    route: {} as RouteOptions,
    openapiObject: { openapi: VERSION },
  }).schema as { body: object; response: Record<string, object> };
  return io === 'input' ? transformed.body : (transformed.response[200] as object);
}

/**
 * Adds what the routes' schemas cannot express: operation names, files, responses without JSON, the common
 * error format, and the idempotency header of calls that spend credit.
 */
function complete(document: Document, { endpoints, operationIds, furtherPaths }: Described): void {
  document.paths = nameWildcards({ ...document.paths, ...furtherPaths });
  document.components.responses = { Error: describeError(errorBody) };
  const { schemas } = document.components;
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}');
    const operation = document.paths[path]?.[endpoint.method.toLowerCase()];
    if (!operation) continue;
    const operationId = operationIds.get(endpoint);
    if (operationId) operation.operationId = operationId;
    if (endpoint.upload) operation.requestBody = describeUpload(endpoint.upload);
    if (endpoint.isForm) operation.requestBody = asForm(operation.requestBody);
    if (endpoint.body?.safeParse(undefined).success)
      operation.requestBody = { ...operation.requestBody, required: false };
    operation.responses = {
      ...(endpoint.response ? operation.responses : { [endpoint.status ?? 200]: describeAnswers(endpoint) }),
      default: endpoint.error ? describeError(endpoint.error) : { $ref: '#/components/responses/Error' },
    };
    for (const part of [operation.parameters, operation.requestBody]) visit(part, schemas, documentNulCheck);
    // One client sends `expand[]` instead of `expand`. Omit it, because both would get the same name in
    // generated code.
    operation.parameters = operation.parameters?.filter(({ name }) => !name.endsWith('[]'));
    if (endpoint.spends) operation.parameters = [...(operation.parameters ?? []), idempotencyKey];
  }
  const used = visit([document.paths, document.components.responses], schemas);
  document.components.schemas = Object.fromEntries(
    Object.entries(schemas)
      .filter(([, schema]) => used.has(schema))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** OpenAPI has no wildcard, so the rest of a path becomes a named parameter. */
function nameWildcards(paths: Paths): Paths {
  const parameters = Object.values(paths).flatMap((operations) =>
    Object.values(operations).flatMap((operation) => operation.parameters ?? []),
  );
  for (const parameter of parameters) if (parameter.name === '*') parameter.name = 'path';
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [path.replace('{*}', '{path}'), operations]),
  );
}

function describeError(error: z.ZodType): object {
  const schema = toJsonSchema(error, 'output');
  return { description: 'Every error', content: { 'application/json': { schema } } };
}

function describeAnswers({ answers }: Endpoint): object {
  if (!answers) return { description: 'Done' };
  const content = Object.entries(answers).map(([type, answer]) => [
    type,
    answer ? { schema: toJsonSchema(answer, 'output') } : {},
  ]);
  return { description: 'The answer', content: Object.fromEntries(content) };
}

/** Calls `see` once for each object in a part of the document, including referenced named schemas. */
function visit(
  part: unknown,
  schemas: Record<string, object>,
  see: (object: object) => void = () => undefined,
  seen = new Set<unknown>(),
): Set<unknown> {
  if (typeof part !== 'object' || part === null || seen.has(part)) return seen;
  seen.add(part);
  see(part);
  const { $ref } = part as { $ref?: unknown };
  const named = typeof $ref === 'string' ? schemas[$ref.replace('#/components/schemas/', '')] : undefined;
  for (const child of [...Object.values(part), named]) visit(child, schemas, see, seen);
  return seen;
}

/** Documents the check of `rejectUnstorable` on texts that have no other format. */
function documentNulCheck(schema: object): void {
  const isFreeText =
    'type' in schema &&
    schema.type === 'string' &&
    !['pattern', 'enum', 'const', 'format', 'contentMediaType'].some((name) => name in schema);
  if (isFreeText) Object.assign(schema, { pattern: '^[^\\u0000]*$' });
}

/** Accepts the same fields as a form as in JSON. */
function asForm(requestBody: Operation['requestBody']): object {
  const { content, ...rest } = requestBody as { content: Record<string, object> };
  return {
    ...rest,
    content: { 'application/x-www-form-urlencoded': content['application/json'], ...content },
  };
}

function describeUpload(upload: NonNullable<Endpoint['upload']>): object {
  const bytes = { type: 'string', contentMediaType: 'application/octet-stream', minLength: 1 };
  if (upload === 'bytes')
    return { required: true, content: { 'application/octet-stream': { schema: bytes } } };
  const { part, optionalPart, fields, orJson } = upload;
  const { properties = {}, required = [] }: { properties?: object; required?: string[] } = fields
    ? toJsonSchema(fields, 'input')
    : {};
  const schema = {
    type: 'object',
    properties: { ...properties, [part]: bytes, ...(optionalPart && { [optionalPart]: bytes }) },
    required: orJson ? required : [...required, part],
  };
  const content = {
    'multipart/form-data': { schema },
    ...(orJson && { 'application/json': { schema: toJsonSchema(orJson, 'input') } }),
  };
  return { required: true, content };
}
