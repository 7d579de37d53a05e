import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import path from 'node:path';
import { getApiKey } from '@bakehouse/contract/accounts';
import { uploadFile } from '@bakehouse/contract/assets';
import { chatCompletions } from '@bakehouse/contract/chat';
import type { CallOf, Endpoint, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { errorBody } from '@bakehouse/contract/errors';
import * as z from 'zod';
import { PlainError } from '../plain-error.ts';
import { readSettings } from './settings.ts';

type Account = { name: string; email: string; password: string };

const signedIn = z.object({ user: z.object({ id: z.string() }) });
const completion = z.object({ choices: z.tuple([z.object({ message: z.object({ content: z.string() }) })]) });

/** Returns the URL of the running server. Throws a sentence that says how to start it. */
export async function findServer(): Promise<string> {
  const { publicUrl } = readSettings();
  const ready = await fetch(new URL('/readyz', publicUrl)).catch(() => null);
  if (ready?.ok) return publicUrl;
  throw new PlainError(
    `No server is ready at ${publicUrl}. Start it with './bakehouse up' in another terminal.`,
  );
}

/** A client of the public API with a user's key. It can do the same as any other program with that key. */
export class Client {
  readonly url: string;
  readonly userId: string;
  readonly apiKey: string;

  constructor(url: string, userId: string, apiKey: string) {
    this.url = url;
    this.userId = userId;
    this.apiKey = apiKey;
  }

  static signUp(url: string, account: Account): Promise<Client> {
    return enter(url, '/api/auth/sign-up/email', account);
  }

  static signIn(url: string, { email, password }: Account): Promise<Client> {
    return enter(url, '/api/auth/sign-in/email', { email, password });
  }

  /** Calls an endpoint and returns its response. Throws PlainError with the server's message. */
  async call<E extends Endpoint>(endpoint: E, call: CallOf<E>): Promise<ResponseOf<E>> {
    return read(endpoint, await this.send(endpoint, call));
  }

  /** Like `call`, for endpoints that respond with bytes or a stream. */
  async send<E extends Endpoint>(endpoint: E, call: CallOf<E>): Promise<Response> {
    const { params, query, body } = call as { params?: object; query?: object; body?: unknown };
    return send(new URL(endpointUrl(endpoint.path, params, query), this.url), {
      method: endpoint.method,
      headers: {
        'x-api-key': this.apiKey,
        ...(endpoint.spends && { 'idempotency-key': randomUUID() }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** Uploads a local file into a dataset or model. */
  async upload(assetId: string, file: string): Promise<ResponseOf<typeof uploadFile>> {
    const form = new FormData();
    form.set('data_file', await openAsBlob(file), path.basename(file));
    const response = await send(new URL(endpointUrl(uploadFile.path, { id: assetId }), this.url), {
      method: uploadFile.method,
      headers: { 'x-api-key': this.apiKey },
      body: form,
    });
    return read(uploadFile, response);
  }

  /** Returns the model's answer to one question, with greedy decoding. */
  async ask(model: string, question: string): Promise<string> {
    const response = await this.send(chatCompletions, {
      body: { model, messages: [{ role: 'user', content: question }], temperature: 0, max_tokens: 64 },
    });
    return completion.parse(await response.json()).choices[0].message.content.trim();
  }
}

async function enter(url: string, authPath: string, body: object): Promise<Client> {
  const response = await send(new URL(authPath, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(body),
  });
  const { user } = signedIn.parse(await response.json());
  const cookie = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  const key = await send(new URL(endpointUrl(getApiKey.path, {}, { user_id: user.id }), url), {
    headers: { cookie: cookie.join('; ') },
  });
  const { data } = await read(getApiKey, key);
  return new Client(url, user.id, data);
}

async function read<E extends Endpoint>({ response: schema }: E, response: Response): Promise<ResponseOf<E>> {
  const text = await response.text();
  return schema?.parse(text === '' ? undefined : JSON.parse(text)) as ResponseOf<E>;
}

async function send(url: URL, request: RequestInit): Promise<Response> {
  const response = await fetch(url, request);
  if (response.ok) return response;
  const text = await response.text();
  const serverMessage = errorBody.safeParse(safeJson(text)).data?.error.message;
  throw new PlainError(
    `${request.method ?? 'GET'} ${url.pathname} failed with ${response.status}: ` +
      (serverMessage ?? text.slice(0, 300)),
  );
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
