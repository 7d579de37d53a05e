import * as z from 'zod';
import { AppError, internalError, unavailable } from '../../../platform/errors.ts';
import type { Access, JobStatus, Service } from '../service.ts';
import { callService, moderated } from './call-service.ts';

const title = 'Google';

/** Google answers 404 or FAILED_PRECONDITION if the account of the key may not use the model. */
const NOT_ALLOWED =
  'Video generation not available for your account. Please contact support for allowlist access.';

const operation = z.object({
  name: z.string().regex(/^[\w./-]+$/),
  done: z.boolean().optional(),
  error: z.object({ status: z.string().optional(), message: z.string().optional() }).optional(),
  response: z
    .object({
      generateVideoResponse: z
        .object({
          generatedSamples: z.array(z.object({ video: z.object({ uri: z.url() }) })).optional(),
          raiMediaFilteredCount: z.number().optional(),
          raiMediaFilteredReasons: z.array(z.string()).optional(),
        })
        .optional(),
    })
    .optional(),
});

/**
 * Client of Veo in the Gemini API. A job is a long-running operation, which cannot be cancelled. Downloading
 * the video needs the key.
 */
export function google({ key, url, clock }: Access): Service {
  const headers = { 'x-goog-api-key': key };
  const address = (path: string) => new URL(`/v1beta/${path}`, url).href;
  return {
    outputHeaders: headers,

    async submit({ model, input: { prompt, image, ...parameters } }) {
      const body = {
        instances: [{ prompt, ...(typeof image === 'string' && { image: toImage(image) }) }],
        parameters,
      };
      const asked = { title, url: address(`models/${model}:predictLongRunning`), headers, clock };
      const answer = await callService({ ...asked, method: 'POST', body }).catch((error: unknown) => {
        throw isNotAllowed(error) ? internalError(NOT_ALLOWED, { cause: error }) : error;
      });
      return { operation: operation.parse(answer).name };
    },

    async look(handle, signal) {
      const asked = { title, url: address(handle.operation ?? ''), headers, clock, signal };
      return toLook(operation.parse(await callService(asked)));
    },
  };
}

/** Converts a `data:` URL to the API's format. */
function toImage(address: string): { bytesBase64Encoded: string; mimeType: string } {
  const comma = address.indexOf(',');
  return {
    bytesBase64Encoded: address.slice(comma + 1),
    mimeType: address.slice('data:'.length, address.indexOf(';')),
  };
}

function toLook({ done, error, response }: z.output<typeof operation>): JobStatus {
  if (error) return { state: 'failed', error: failure(error) };
  if (!done) return { state: 'waiting', reason: `${title} is generating it`, isGenerating: true };
  const { generatedSamples = [], ...filtered } = response?.generateVideoResponse ?? {};
  const outputs = generatedSamples.map(({ video }) => video.uri);
  if (outputs.length === 0 && filtered.raiMediaFilteredCount) {
    const reasons = filtered.raiMediaFilteredReasons?.join('; ') ?? '';
    return { state: 'failed', error: moderated(title, new Error(reasons)) };
  }
  return { state: 'done', outputs };
}

function failure({ status = '', message = '' }: { status?: string; message?: string }): AppError {
  const cause = new Error(`${status}: ${message}`);
  if (status === 'FAILED_PRECONDITION') return internalError(NOT_ALLOWED, { cause });
  return unavailable(`${title} could not generate this`, { cause });
}

function isNotAllowed(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  const causeMessage = error.cause instanceof Error ? error.cause.message : '';
  return error.code === 'gone' || causeMessage.includes('FAILED_PRECONDITION');
}
