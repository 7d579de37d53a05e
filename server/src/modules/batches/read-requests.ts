import { BATCH_LINES_MAX, type BatchEndpoint } from '@bakehouse/contract/batches';
import * as z from 'zod';
import { findUnstorable } from '../../platform/db/storable-text.ts';
import { type AppError, refused } from '../../platform/errors.ts';
import { sentenceOf } from '../../platform/http/validation/invalid-request.ts';
import { readJsonLines } from '../datasets/openai-files/json-lines.ts';
import type { BatchRequest } from './queries.ts';
import { parseBody, type RequestBody } from './request-bodies.ts';

const FIELD = 'input_file_id';

const requestLine = z.object({
  custom_id: z
    .string('custom_id is required: your own name for this request')
    .min(1, 'custom_id is required: your own name for this request')
    .max(512, 'custom_id must have at most 512 characters'),
  method: z.literal('POST', "method must be 'POST'"),
  url: z.string(),
  body: z.record(z.string(), z.unknown(), 'body must be the body of the request'),
});

export type ReadRequest = BatchRequest & { asked: RequestBody };

/**
 * Yields the requests of a batch, parsed for its endpoint, which must all use one model. Throws AppError
 * 'invalid_request' for the first invalid line.
 */
export async function* readRequests(
  bytes: AsyncIterable<Buffer>,
  endpoint: BatchEndpoint,
): AsyncGenerator<ReadRequest> {
  const ids = new Set<string>();
  let model: string | null = null;
  for await (const { number, value } of readJsonLines(bytes, FIELD)) {
    if (ids.size === BATCH_LINES_MAX)
      throw refused(FIELD, `A batch has at most ${BATCH_LINES_MAX} requests. Send them as several batches`);
    const request = readRequest(number, value, endpoint);
    if (ids.has(request.customId))
      throw atLine(number, `custom_id '${request.customId}' stands on a line before`);
    ids.add(request.customId);
    model ??= request.asked.body.model;
    if (request.asked.body.model !== model)
      throw atLine(number, `body.model must be '${model}', as on the lines before: a batch is of one model`);
    yield request;
  }
  if (ids.size === 0) throw refused(FIELD, 'The file has no requests');
}

function readRequest(number: number, value: unknown, endpoint: BatchEndpoint): ReadRequest {
  const line = requestLine.safeParse(value);
  if (!line.success) throw atLine(number, describe(line.error));
  const { custom_id: customId, url, body } = line.data;
  if (url !== endpoint) throw atLine(number, `url must be ${endpoint}, the endpoint of the batch`);
  if (body.stream === true) throw atLine(number, 'body.stream must be left out: a batch has no streams');
  const unstorable = findUnstorable(line.data);
  if (unstorable) throw atLine(number, `${unstorable.join('.')} has characters that cannot be stored`);
  try {
    return { number, customId, body, asked: parseBody(endpoint, body) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw atLine(number, describe(error, 'body'));
  }
}

function describe({ issues: [issue] }: z.ZodError, ...within: string[]): string {
  return sentenceOf([...within, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'is not valid');
}

function atLine(number: number, sentence: string): AppError {
  return refused(FIELD, `Line ${number}: ${sentence}`);
}
