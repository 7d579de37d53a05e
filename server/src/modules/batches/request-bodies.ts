import type { BatchEndpoint } from '@bakehouse/contract/batches';
import { chatCompletions } from '@bakehouse/contract/chat';
import { createEmbeddings } from '@bakehouse/contract/embeddings';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { createResponse } from '@bakehouse/contract/responses';
import * as z from 'zod';

type Bodies = {
  '/v1/chat/completions': InputOf<typeof chatCompletions>['body'];
  '/v1/responses': InputOf<typeof createResponse>['body'];
  '/v1/embeddings': InputOf<typeof createEmbeddings>['body'];
};

export type RequestBody = { [E in BatchEndpoint]: { endpoint: E; body: Bodies[E] } }[BatchEndpoint];

/** Parses the body of a call of the endpoint. Throws ZodError. */
export function parseBody(endpoint: BatchEndpoint, body: unknown): RequestBody {
  switch (endpoint) {
    case '/v1/chat/completions':
      return { endpoint, body: z.parse(chatCompletions.body ?? z.never(), body) };
    case '/v1/responses':
      return { endpoint, body: z.parse(createResponse.body ?? z.never(), body) };
    case '/v1/embeddings':
      return { endpoint, body: z.parse(createEmbeddings.body ?? z.never(), body) };
  }
}
