import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { modelUnavailable } from '../../../platform/errors.ts';

// Connections are reused, because opening one per request would take longer than the rest of the gateway's
// work.
const agents = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 256 }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 256 }),
};

/**
 * A machine that is gone does not refuse connections, and the operating system would keep trying for minutes.
 */
const CONNECT_MS_MAX = 5_000;

/** Statuses of a router that cannot reach any of its servers. */
const REACHES_NONE = new Set([502, 503, 504]);

/**
 * The model server did not answer, or closed the connection before its answer. The request can be repeated.
 * If it was delivered completely, it may have crashed the server.
 */
export class ModelServerUnreachable extends Error {
  readonly wasDelivered: boolean;

  constructor(cause: unknown, { wasDelivered = false } = {}) {
    super('the model server did not answer', { cause });
    this.name = 'ModelServerUnreachable';
    this.wasDelivered = wasDelivered;
  }
}

/** Maximum length of an error response; real messages are much shorter. */
const TEXT_CHARS_MAX = 64 * 1024;

/** How often to retry a server that has crashed or was just replaced. */
const TRIES = 10;

const TRY_PAUSE_MS = 300;

/** Maximum deliveries of a request. Each one may have crashed the server. */
const DELIVERIES = 2;

/** Retry-after for callers while a machine is unreachable. The engine needs minutes to declare it lost. */
const AGAIN_MS = 5_000;

type Target = {
  url: string;
  key: string | null;
  /**
   * Uses a new connection. After a reused one was closed, it would be unknown whether the request was
   * delivered.
   */
  alone?: boolean;
  /**
   * The target is a router in front of the servers. If it cannot reach any of them, the request counts as
   * unanswered.
   */
  isRouter?: boolean;
};

/**
 * Posts a JSON body to a model server. Resolves as soon as the headers of the answer arrive. Throws
 * ModelServerUnreachable. An abort also ends an answer that is being read.
 */
export function postToModelServer(
  { url, key, alone = false, isRouter = false }: Target,
  body: object,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = new URL(url);
  const payload = Buffer.from(JSON.stringify(body));
  const isSecure = target.protocol === 'https:';
  const send = (agent: http.Agent | false) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = (isSecure ? https : http).request(target, {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          'content-length': payload.length,
          ...(key !== null && { authorization: `Bearer ${key}` }),
        },
        signal,
      });
      request.once('socket', (socket) => {
        if (!socket.connecting) return;
        const giveUp = setTimeout(() => request.destroy(new Error('no connection')), CONNECT_MS_MAX);
        for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(giveUp));
      });
      let isAnswered = false;
      request.once('response', (answer) => {
        isAnswered = true;
        const status = answer.statusCode ?? 0;
        if (!isRouter || !REACHES_NONE.has(status)) return resolve(answer);
        answer.resume();
        reject(new ModelServerUnreachable(new Error(`the router answered with ${status}`)));
      });
      request.on('error', (error) => {
        if (signal.aborted) reject(error);
        // llama.cpp closes its connection after each stream without announcing that. So if a reused
        // connection is closed, the server may be fine: send the request again.
        else if (request.reusedSocket && !isAnswered) resolve(send(false));
        else reject(new ModelServerUnreachable(error, { wasDelivered: request.writableFinished }));
      });
      request.end(payload);
    });
  if (alone) return send(false);
  return send(isSecure ? agents['https:'] : agents['http:']);
}

/** Reads an error response as text. Truncates a long one and closes the connection. */
export async function readText(answer: IncomingMessage): Promise<string> {
  answer.setEncoding('utf8');
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > TEXT_CHARS_MAX) break;
  }
  return text.slice(0, TEXT_CHARS_MAX);
}

/**
 * Calls `attempt` until it reaches the model server; the attempts are numbered from 1. Throws the attempt's
 * other errors, and the signal's reason. If no attempt reaches the server, throws AppError 'unavailable',
 * with `retryAfterMs` if no request was delivered.
 */
export async function retryUnreachable<Reached>(
  attempt: (number: number) => Promise<Reached>,
  { modelName, signal }: { modelName: string; signal: AbortSignal },
): Promise<Reached> {
  let deliveries = 0;
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!(error instanceof ModelServerUnreachable)) throw error;
      if (error.wasDelivered) deliveries += 1;
      if (number === TRIES || deliveries === DELIVERIES)
        throw modelUnavailable(
          `${modelName} does not answer`,
          error,
          deliveries === 0 ? AGAIN_MS : undefined,
        );
    }
    await pause(TRY_PAUSE_MS, undefined, { signal });
  }
}
