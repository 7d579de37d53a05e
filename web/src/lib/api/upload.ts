import type { Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { checkServer, recordServerStatus } from '../live/online.ts';
import { keyHeader, refused } from './api-client.ts';
import { ApiError, toApiError } from './api-error.ts';
import { discardSharedReads } from './shared-reads.ts';

/** A connection that neither accepts bytes nor responds for this long counts as lost. */
const STALL_MS = 120_000;
/** The server checks some files before it answers, and may queue the check for ten minutes. */
const ANSWER_MS = 800_000;

type Options = {
  /** Bytes sent so far, and the request's total. */
  onProgress?: (sentBytes: number, totalBytes: number) => void;
  signal?: AbortSignal;
};

/**
 * Uploads one file as the form part that the endpoint names; `fields` are form parts that precede it. Throws
 * an `ApiError`, with code 'aborted' if the signal aborted it and 'timeout' if the connection stalled.
 */
export function upload<E extends Endpoint>(
  endpoint: E,
  params: object,
  file: File,
  { fields = {}, ...options }: Options & { fields?: Record<string, string> } = {},
): Promise<ResponseOf<E>> {
  const form = new FormData();
  if (typeof endpoint.upload !== 'object') throw new Error(`${endpoint.path} does not accept a file upload`);
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append(endpoint.upload.part, file, file.name);
  return send(endpoint, endpointUrl(endpoint.path, params), form, options);
}

/** Uploads bytes as the request body. Throws the same errors as `upload`. */
export function uploadBytes<E extends Endpoint>(
  endpoint: E,
  { params, query }: { params: object; query: object },
  bytes: Blob,
  options: Options = {},
): Promise<ResponseOf<E>> {
  return send(endpoint, endpointUrl(endpoint.path, params, query), bytes, options);
}

/** Uses XMLHttpRequest because fetch has no upload progress. */
function send<E extends Endpoint>(
  endpoint: E,
  url: string,
  body: FormData | Blob,
  options: Options,
): Promise<ResponseOf<E>> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    let stalled = false;
    const giveUp = () => {
      stalled = true;
      void checkServer();
      request.abort();
    };
    let timer = setTimeout(giveUp, STALL_MS);
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
      discardSharedReads();
      settle();
    };
    request.open(endpoint.method, url);
    for (const [name, value] of Object.entries(keyHeader(endpoint))) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, STALL_MS);
      options.onProgress?.(event.loaded, event.total);
    };
    request.upload.onload = () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, ANSWER_MS);
    };
    const fail = () => reject(new ApiError('Failed to upload file.', { status: 0, code: 'network' }));
    request.onload = () =>
      finish(() => {
        recordServerStatus(request.status);
        if (request.status >= 200 && request.status < 300) {
          const answer = parseJson(request.responseText);
          // A proxy has answered instead of the server.
          return answer === undefined ? fail() : resolve(answer as ResponseOf<E>);
        }
        const requestId = request.getResponseHeader('x-request-id');
        reject(
          refused(endpoint, toApiError(request.status, request.responseText, requestId, 'upload file.')),
        );
      });
    request.onerror = () => {
      void checkServer();
      finish(fail);
    };
    request.onabort = () => finish(() => reject(stalled ? stallError() : cancelError()));
    options.signal?.addEventListener('abort', abort);
    request.send(body);
    if (options.signal?.aborted) request.abort();
  });
}

function stallError(): ApiError {
  const message =
    'The upload stopped: no data went through for two minutes. Check your connection and try again.';
  return new ApiError(message, { status: 0, code: 'timeout' });
}

function cancelError(): ApiError {
  return new ApiError('The upload was cancelled', { status: 0, code: 'aborted' });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
