import type { Endpoint } from '@bakehouse/contract/endpoint';
import { errorBody } from '@bakehouse/contract/errors';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import * as z from 'zod';

type Operation = { parameters?: object[]; responses?: Record<string, object> };
type Document = { paths?: Record<string, Record<string, Operation>>; components?: { responses?: object } };

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Same key, same answer: a repeated call spends nothing. 1 to 255 characters, e.g. a UUID.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/**
 * Describes the endpoints, mounted after this call, as an OpenAPI 3.1 document: `app.swagger()`, and
 * for everyone at GET /openapi.json.
 */
export async function describeInOpenApi(app: FastifyInstance, endpoints: Endpoint[]): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Bakehouse', version: '1' },
      components: {
        securitySchemes: {
          key: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-KEY',
            description: 'Or the same key as a bearer token.',
          },
          session: { type: 'apiKey', in: 'cookie', name: 'bakehouse.session_token' },
          workload: { type: 'http', scheme: 'bearer', description: 'The token of one running workload.' },
        },
      },
    },
    // The page of the web app and the sign-in library's own paths are not part of the contract.
    transform: (route) => {
      const isOurs = endpoints.some((endpoint) => endpoint.path === route.url);
      return jsonSchemaTransform({
        ...route,
        schema: isOurs ? route.schema : { ...route.schema, hide: true },
      });
    },
    transformObject: (input) => {
      const document = jsonSchemaTransformObject(input);
      complete(document as Document, endpoints);
      return document;
    },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

/** Adds what the routes' schemas cannot say: the one shape of errors, and the header of calls that spend. */
function complete(document: Document, endpoints: Endpoint[]): void {
  const { $schema: _, ...error } = z.toJSONSchema(errorBody);
  document.components = {
    ...document.components,
    responses: { Error: { description: 'Every error', content: { 'application/json': { schema: error } } } },
  };
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}').replace('*', '{*}');
    const operation = document.paths?.[path]?.[endpoint.method.toLowerCase()];
    if (!operation) continue;
    operation.responses = { ...operation.responses, default: { $ref: '#/components/responses/Error' } };
    if (endpoint.spends) operation.parameters = [...(operation.parameters ?? []), idempotencyKey];
  }
}
