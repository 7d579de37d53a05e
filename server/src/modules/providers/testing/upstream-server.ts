import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * How the services answer: `hang` leaves a job in the queue, `not cancelled` does too and refuses cancels,
 * `generating` starts the job without finishing it.
 */
export type UpstreamAnswer =
  | 'ok'
  | 'hang'
  | 'generating'
  | 'not cancelled'
  | 'moderated'
  | 'one flagged'
  | 'failed'
  | 'forgotten'
  | 'nothing'
  | 'no key'
  | 'no credit'
  | 'not offered'
  | 'busy'
  | 'in trouble'
  | 'refused'
  | 'another form'
  | 'no JSON'
  | 'gone silent'
  | 'begun in silence'
  | 'no answer of its own'
  | 'no picture'
  | 'cut off'
  | 'dead link'
  | 'inside link';

type Submission = { path: string; body: Record<string, unknown>; authorization: string };
type Reply = { status: number; body: unknown };

/** 3 x 2 pixels. */
export const UPSTREAM_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGM8UaHBwMDAwMDAxAADABosAWwXscVVAAAAAElFTkSuQmCC',
  'base64',
);

const refusals: Partial<Record<UpstreamAnswer, Reply>> = {
  'no key': { status: 401, body: { detail: 'Invalid token' } },
  'no credit': { status: 402, body: { detail: 'Insufficient credit' } },
  'not offered': { status: 404, body: { detail: 'Not found' } },
  busy: { status: 429, body: { detail: 'Request was throttled' } },
  'no answer of its own': { status: 504, body: 'an HTML page of a proxy' },
  'in trouble': { status: 500, body: 'an HTML page' },
  'another form': { status: 200, body: { result: 'in a new place' } },
  'no JSON': { status: 200, body: '' },
  refused: {
    status: 422,
    body: { detail: [{ loc: ['body', 'prompt'], msg: 'ensure this value has at most 10 characters' }] },
  },
};

type State = {
  answer: UpstreamAnswer;
  submissions: Submission[];
  /** Pictures that were uploaded separately, each as the text of its multipart body. */
  uploads: string[];
  /** Jobs for which a cancel arrived. */
  cancelled: string[];
  looks: number;
  /** The generated picture. */
  file: Buffer;
  /** With `gone silent`, the connection is closed once this resolves. */
  silence: Promise<void>;
  /** The answer to a cancel is sent once this resolves. */
  cancelling: Promise<void>;
  /** Retry-After header of `busy`. */
  retryAfter: string;
};

/** For tests: serves all generation APIs on one port, each in its own format. */
export async function upstreamServer() {
  const state: State = {
    ...{ answer: 'ok' as const, submissions: [], uploads: [], cancelled: [], looks: 0, retryAfter: '30' },
    ...{ file: UPSTREAM_PNG, silence: Promise.resolve(), cancelling: Promise.resolve() },
  };
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => void respond(request, response, text));
  });

  async function respond(request: http.IncomingMessage, response: http.ServerResponse, text: string) {
    if (state.answer === 'gone silent') return void response.destroy();
    if (request.url?.startsWith('/files/')) return sendFile(state, response);
    if (request.url === '/v1/files') {
      state.uploads.push(text);
      return sendReceipt(url, response);
    }
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    const reply = answer(request, body);
    if (state.answer === 'begun in silence') return fallSilent(state, request);
    // BytePlus answers when the picture is finished.
    while (state.answer === 'generating' && request.url?.startsWith('/api/v3/')) await pause(20);
    if (request.url?.endsWith('/cancel')) await state.cancelling;
    sendReply(state, response, reply);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { bytePlus, falResult, falStatus, predictionOf, predictionStatus, task } = results(state, url);

  function answer(request: http.IncomingMessage, body: Record<string, unknown>): Reply {
    const path = request.url ?? '';
    const job = /job_(\d+)/.exec(path)?.[0];
    if (path.endsWith('/cancel')) {
      if (state.answer === 'not cancelled') return { status: 400, body: { status: 'ALREADY_COMPLETED' } };
      state.cancelled.push(job ?? '');
      return { status: 202, body: predictionOf(job ?? '', 'canceled') };
    }
    if (job !== undefined) return look(path, job);
    const authorization = request.headers.authorization ?? String(request.headers['x-key']);
    const refusal = refusals[state.answer];
    state.submissions.push({ path, body, authorization });
    return refusal ?? submitted(path, `job_${state.submissions.length}`);
  }

  function submitted(path: string, job: string): Reply {
    if (path.startsWith('/api/v3/')) return bytePlus();
    if (path.startsWith('/v1/models/')) return { status: 201, body: predictionOf(job, 'starting') };
    if (path.startsWith('/v1/'))
      return { status: 200, body: { id: job, polling_url: `${url}/v1/get_result?id=${job}` } };
    const at = `${url}/fal-ai/any/requests/${job}`;
    const addresses = { status_url: `${at}/status`, response_url: at, cancel_url: `${at}/cancel` };
    return { status: 200, body: { status: 'IN_QUEUE', request_id: job, ...addresses } };
  }

  function look(path: string, job: string): Reply {
    state.looks += 1;
    const refusal = refusals[state.answer];
    if (refusal) return refusal;
    if (state.cancelled.includes(job)) return { status: 422, body: { detail: 'Request was cancelled' } };
    if (state.answer === 'forgotten') return { status: 404, body: { detail: 'Not found' } };
    if (path.startsWith('/v1/predictions/'))
      return { status: 200, body: predictionOf(job, predictionStatus()) };
    if (path.startsWith('/v1/get_result')) return { status: 200, body: task() };
    if (path.endsWith('/status')) return { status: 200, body: { status: falStatus(), queue_position: 2 } };
    return falResult();
  }

  return { state, access: { key: 'key-of-the-installation', url }, close: () => closeNow(server) };
}

function closeNow(server: http.Server): void {
  server.closeAllConnections();
  server.close();
}

/** Sends a service's answer to a call. */
function sendReply({ answer, retryAfter }: State, response: http.ServerResponse, { status, body }: Reply) {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 429 && { 'retry-after': retryAfter }),
  });
  response.end(answer === 'no JSON' ? '<html>' : JSON.stringify(body));
}

async function fallSilent({ silence }: State, { socket }: http.IncomingMessage): Promise<void> {
  await silence;
  socket.resetAndDestroy();
}

/** Replicate's answer to a file upload. */
function sendReceipt(url: string, response: http.ServerResponse): void {
  response.writeHead(201, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'file_1', urls: { get: `${url}/v1/files/file_1` } }));
}

/** Returns each service's answers about finished and running jobs. */
function results(state: State, url: string) {
  const links = (count: number) =>
    state.answer === 'inside link'
      ? ['http://169.254.169.254/latest/meta-data']
      : Array.from({ length: state.answer === 'nothing' ? 0 : count }, (_, at) => `${url}/files/${at}.png`);

  function falStatus(): string {
    if (state.answer === 'hang' || state.answer === 'not cancelled') return 'IN_QUEUE';
    return state.answer === 'generating' ? 'IN_PROGRESS' : 'COMPLETED';
  }

  function falResult(): Reply {
    const asked = Number(state.submissions.at(-1)?.body.num_images ?? 1);
    if (state.answer === 'moderated')
      return { status: 422, body: { detail: [{ type: 'content_policy_violation', msg: 'flagged' }] } };
    if (state.answer === 'failed') return { status: 500, body: { detail: 'worker died' } };
    const images = links(asked).map((link) => ({ url: link, content_type: 'image/png' }));
    const flagged = images.map((_, at) => state.answer === 'one flagged' && at === 0);
    return { status: 200, body: { images, has_nsfw_concepts: flagged, seed: 1 } };
  }

  function predictionStatus(): string {
    if (state.answer === 'hang' || state.answer === 'not cancelled') return 'starting';
    if (state.answer === 'generating') return 'processing';
    return state.answer === 'moderated' || state.answer === 'failed' ? 'failed' : 'succeeded';
  }

  function predictionOf(id: string, status: string) {
    const error =
      state.answer === 'moderated' ? 'NSFW content detected. Try running it again' : 'Out of memory';
    const asked = Number(state.submissions.at(-1)?.body.n ?? 1);
    return { id, status, output: links(asked), error: status === 'failed' ? error : null };
  }

  function task() {
    if (state.answer === 'hang' || state.answer === 'generating') return { status: 'Pending', result: null };
    if (state.answer === 'moderated') return { status: 'Content Moderated', result: null };
    if (state.answer === 'failed') return { status: 'Error', result: null };
    return { status: 'Ready', result: { sample: links(1)[0] } };
  }

  function bytePlus(): Reply {
    if (state.answer === 'moderated')
      return { status: 400, body: { error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } } };
    if (state.answer === 'failed')
      return { status: 500, body: { error: { code: 'InternalError', message: 'no' } } };
    return { status: 200, body: { data: links(1).map((link) => ({ url: link })) } };
  }

  return { bytePlus, falResult, falStatus, predictionOf, predictionStatus, task };
}

function sendFile({ answer, file }: State, response: http.ServerResponse): void {
  if (answer === 'dead link') return void response.writeHead(403).end('Request has expired');
  response.writeHead(200, { 'content-type': 'image/png' });
  if (answer === 'no picture') return void response.end('<html>Not a picture</html>'.repeat(10));
  response.end(answer === 'cut off' ? file.subarray(0, -10) : file);
}
