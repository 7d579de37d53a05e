import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';

// Kept connections: opening one per request would cost more than the whole gateway does.
const agents = {
  'http:': new http.Agent({ keepAlive: true, maxSockets: 256 }),
  'https:': new https.Agent({ keepAlive: true, maxSockets: 256 }),
};

/** A machine that is gone refuses nothing: the system would try for minutes. */
const CONNECT_MS_MAX = 5_000;

/** What a router answers where none of its servers can be asked. */
const REACHES_NONE = new Set([502, 503, 504]);

/**
 * The model server did not answer, or closed before its answer began: the request may be sent again. One that was delivered
 * whole may be what it died of.
 */
export class ModelServerUnreachable extends Error {
  readonly wasDelivered: boolean;

  constructor(cause: unknown, { wasDelivered = false } = {}) {
    super('the model server did not answer', { cause });
    this.name = 'ModelServerUnreachable';
    this.wasDelivered = wasDelivered;
  }
}

type Target = {
  url: string;
  key: string | null;
  /** Over a connection of its own: of a kept one that is closed nobody can say whether the request was delivered. */
  alone?: boolean;
  /** It answers for others: that it reaches none of them is no answer. */
  isRouter?: boolean;
};

/**
 * Posts a JSON body to a model server, showing its key, and resolves with its answer once the headers are there.
 * Throws ModelServerUnreachable; an abort ends the request, and its answer in the middle.
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
        // llama.cpp closes a connection after each stream without saying so before: that a kept one
        // is closed says nothing of the server. One of its own was not used before.
        else if (request.reusedSocket && !isAnswered) resolve(send(false));
        else reject(new ModelServerUnreachable(error, { wasDelivered: request.writableFinished }));
      });
      request.end(payload);
    });
  if (alone) return send(false);
  return send(isSecure ? agents['https:'] : agents['http:']);
}

/** More than any refusal has to say. */
const TEXT_CHARS_MAX = 64 * 1024;

/** Reads a refusal to its end, as text; of one that is too long the beginning, and the connection ends. */
export async function readText(answer: IncomingMessage): Promise<string> {
  answer.setEncoding('utf8');
  let text = '';
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length > TEXT_CHARS_MAX) break;
  }
  return text.slice(0, TEXT_CHARS_MAX);
}
