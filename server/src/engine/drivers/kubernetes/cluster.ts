import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { readLines } from '../../../platform/processes/processes.ts';

/** Error response of an API server. */
export class ApiError extends Error {
  readonly status: number;
  /** Requested back-off; 0 if none. */
  readonly retryAfterMs: number;

  constructor(status: number, message: string, retryAfterMs = 0) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

export type Cluster = {
  /** Name in the kubeconfig. */
  name: string;
  namespace: string;
  /**
   * Sends one JSON request; `path` includes the query. Throws ApiError or the connection error. While the API
   * server requests back-off, a call waits for a short delay and throws for a long one.
   */
  call: <T = unknown>(method: Method, path: string, body?: unknown) => Promise<T>;
  /** Sends one request and returns the response as text. */
  readText: (path: string) => Promise<string>;
  /**
   * Streams the lines of a response. Resolves at its end; rejects with ApiError, on a connection error, or
   * after `silentMsMax` of silence.
   */
  readLines: (path: string, onLine: (line: string) => void, options: Listening) => Promise<void>;
  close: () => void;
};

type Listening = {
  silentMsMax: number;
  signal: AbortSignal;
  /** Called when the API server responds. */
  onOpen?: () => void;
};

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

const CALL_MS_MAX = 30_000;
/** Retries for a call that the API server was too busy to handle. */
const TRIES_WHEN_BUSY = 4;
const BUSY_PAUSE_MS = 1_000;
/** A longer pause would outlast the caller's lease. */
const BUSY_PAUSE_MS_MAX = 10_000;

/**
 * Connects to the cluster of a kubeconfig or of this pod. Imports the client on demand, because that takes
 * half a second and 60 MB.
 */
export async function openCluster({
  kubeconfig,
  namespace,
}: {
  /** A path, or 'in-cluster'. */
  kubeconfig: string;
  namespace: string;
}): Promise<Cluster> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (kubeconfig === 'in-cluster') config.loadFromCluster();
  else config.loadFromFile(kubeconfig);
  const { server, name = 'cluster' } = config.getCurrentCluster() ?? {};
  if (server === undefined)
    throw new Error(`${kubeconfig} has no current context: set one, or name another kubeconfig`);
  return new ApiServer(config, server, name, namespace);
}

class ApiServer implements Cluster {
  readonly name: string;
  readonly namespace: string;
  private readonly config: KubeConfig;
  private readonly server: string;
  private readonly plain = new http.Agent({ keepAlive: true });
  private readonly secure = new https.Agent({ keepAlive: true });
  /** Requested back-off ends at this time. */
  private busyUntil = 0;

  constructor(config: KubeConfig, server: string, name: string, namespace: string) {
    this.config = config;
    this.server = server;
    this.name = name;
    this.namespace = namespace;
  }

  async call<T>(method: Method, path: string, body?: unknown): Promise<T> {
    return JSON.parse((await patiently(() => this.exchange(method, path, body))) || 'null') as T;
  }

  readText(path: string): Promise<string> {
    return patiently(() => this.exchange('GET', path));
  }

  async readLines(
    path: string,
    onLine: (line: string) => void,
    { silentMsMax, signal, onOpen }: Listening,
  ): Promise<void> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('API server stopped sending')), silentMsMax);
    try {
      const response = await this.open('GET', path, { signal: AbortSignal.any([signal, silence.signal]) });
      if (!isOk(response)) throw this.refusal(response, await readAll(response));
      onOpen?.();
      response.on('data', () => timer.refresh());
      for await (const line of readLines(response)) onLine(line);
      if (!response.complete) throw new Error('API server closed the connection');
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.plain.destroy();
    this.secure.destroy();
  }

  private async exchange(method: Method, path: string, body?: unknown): Promise<string> {
    const bytes = body === undefined ? null : Buffer.from(JSON.stringify(body));
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await this.open(method, path, {
      signal: AbortSignal.timeout(CALL_MS_MAX),
      ...(bytes && { body: bytes, headers: { 'content-length': bytes.length, 'content-type': type } }),
    });
    const text = await readAll(response);
    if (isOk(response)) return text;
    throw this.refusal(response, text);
  }

  private refusal({ statusCode = 0, headers }: http.IncomingMessage, text: string): ApiError {
    const retryAfterMs = readRetryAfter(headers['retry-after']);
    this.busyUntil = Math.max(this.busyUntil, performance.now() + retryAfterMs);
    return new ApiError(statusCode, messageOf(text), retryAfterMs);
  }

  private async open(method: Method, path: string, send: Sending): Promise<http.IncomingMessage> {
    const busyMs = this.busyUntil - performance.now();
    if (busyMs > 0) throw new ApiError(429, 'The API server has asked to be left alone', busyMs);
    const url = new URL(this.server + path);
    const isSecure = url.protocol === 'https:';
    const options: https.RequestOptions = {
      method,
      headers: { accept: 'application/json', ...send.headers },
    };
    // Credentials may be short-lived, so request them for each call.
    await this.config.applyToHTTPSOptions(options);
    if (!this.config.getCurrentCluster()?.proxyUrl) options.agent = isSecure ? this.secure : this.plain;
    return new Promise((resolve, reject) => {
      const request = (isSecure ? https : http).request(url, { ...options, signal: send.signal }, resolve);
      request.on('error', reject);
      request.end(send.body);
    });
  }
}

type Sending = { signal: AbortSignal; body?: Buffer; headers?: http.OutgoingHttpHeaders };

/** Retries a call that the API server was too busy for; such a call had no effect. */
async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const isBusy = error instanceof ApiError && error.status === 429;
      if (!isBusy || tries === TRIES_WHEN_BUSY || error.retryAfterMs > BUSY_PAUSE_MS_MAX) throw error;
      await sleep(Math.max(error.retryAfterMs, BUSY_PAUSE_MS));
    }
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function readRetryAfter(header = ''): number {
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Math.max(0, ms) || 0;
}

function isOk({ statusCode = 0 }: http.IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300;
}

async function readAll(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Returns the message of a `Status`, or the beginning of any other body. */
function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not from the API server itself but from a proxy in front of it.
  }
  return text.slice(0, 300);
}
