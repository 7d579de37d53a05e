import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ImageEvent,
  type ImageRequest,
  kontextImageRequest,
  parisImageRequest,
  wanVideoRequest,
} from '@bakehouse/contract/runtime/serve-image-spec';
import { postWorkloadReports } from '@bakehouse/contract/workloads';
import type { Script } from '../../../engine/drivers/fake/fake-driver.ts';
import { sendHeartbeats } from '../../../engine/testing/send-heartbeats.ts';
import { pictureFiles } from './picture-files.ts';
import { videoFile } from './video-file.ts';

/** How the next pictures are generated; `hang` starts and blocks until released. */
export type ImageAnswer =
  | 'ok'
  | 'hang'
  | 'broken picture'
  | 'die'
  | 'die at once'
  | 'fail'
  | 'refuse'
  | 'error';

export type ImageServer = {
  /** Script for the fake driver: an image model server in this process. */
  script: Script;
  /** The requests received, in order. */
  requests: ImageRequest[];
  /** Requests in progress. */
  open: number;
  answer: ImageAnswer;
  /** Whether it started before requests had masks, so it ignores them. */
  isOld: boolean;
  /** The picture to return, as a PNG in base64. */
  picture: { content: string; width: number; height: number };
  /** Releases blocked requests. */
  letGo: () => void;
  /** Resets answers and recorded requests; call it before each test. */
  startAnew: () => void;
};

const imageRequest = wanVideoRequest.or(parisImageRequest).or(kontextImageRequest);
const refusal = { error: { message: 'The prompt is too long for this model.', param: 'prompt' } };
/** A PNG of one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** For tests: replaces the Python runtime with an image model. */
export function imageServer(): ImageServer {
  let release = new AbortController();
  const stub: ImageServer = {
    requests: [],
    open: 0,
    answer: 'ok',
    isOld: false,
    picture: { content: PIXEL, width: 1, height: 1 },
    letGo: () => {
      release.abort();
      release = new AbortController();
    },
    startAnew: () => {
      stub.letGo();
      stub.answer = 'ok';
      stub.isOld = false;
      stub.requests.length = 0;
    },
    script: async (launch, { stop, killed }) => {
      const post = (reports: object[]) =>
        fetch(launch.server.base_url + postWorkloadReports.path.replace(':workloadId', launch.workloadId), {
          method: 'POST',
          headers: { authorization: `Bearer ${launch.server.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ reports }),
        });
      const { accepted_seq } = (await (await post([])).json()) as { accepted_seq: number };
      const server = createServer((request, response) => {
        if (request.headers.authorization !== `Bearer ${launch.serverKey}`)
          return void response.writeHead(401).end();
        if (stub.isOld && request.url !== '/generate') return void response.writeHead(404).end();
        stub.open += 1;
        response.on('close', () => (stub.open -= 1));
        generate(stub, request, response, () => release.signal).catch(() => response.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const ready = { type: 'ready', base_url: `http://127.0.0.1:${port}` };
      await post([{ seq: accepted_seq + 1, at: new Date().toISOString(), ...ready }]);
      const endSigns = sendHeartbeats(() => post([]));
      await ended(AbortSignal.any([stop, killed]));
      endSigns();
      server.closeAllConnections();
      server.close();
      return 0;
    },
  };
  return stub;
}

async function generate(
  stub: ImageServer,
  request: IncomingMessage,
  response: ServerResponse,
  currentRelease: () => AbortSignal,
): Promise<void> {
  const asked = imageRequest.parse(JSON.parse(await readText(request)));
  const k = 'k' in asked ? asked.k : null;
  stub.requests.push(asked);
  const {
    answer,
    picture: { content, ...size },
  } = stub;
  // Read together with the answer: a test may release blocked requests before this point.
  const release = currentRelease();
  if (answer === 'die at once') return void response.destroy();
  if (answer === 'fail') return void response.writeHead(500).end('out of memory');
  if (answer === 'refuse') return void response.writeHead(400).end(JSON.stringify(refusal));
  response.writeHead(200);
  const send = (event: ImageEvent) => response.write(`${JSON.stringify(event)}\n`);
  const weights = k === null ? null : Array.from({ length: 8 }, (_, expert) => (expert < k ? 1 / k : 0));
  for (let step = 1; step <= asked.steps; step += 1) {
    if (step === 2 && answer === 'die') return void response.destroy();
    if (step === 2 && answer === 'hang') await ended(release);
    const preview = asked.preview_every > 0 && step % asked.preview_every === 1 ? 'c21hbGw=' : null;
    send({ type: 'step', step, expert_weights: weights, preview });
    await pause(1);
  }
  if (answer === 'error') {
    send({ type: 'error', message: 'The picture has no end' });
    return void response.end();
  }
  if ('seconds' in asked) return sendVideo(response, send, answer);
  const file = answer === 'broken picture' ? Buffer.from('no picture') : Buffer.from(content, 'base64');
  send({
    type: 'done',
    media_type: 'image/png',
    ...{ size_bytes: file.length, ...size, duration_s: null, beside: [] },
    ...(k ? { expert_used: 3, routing_confidence: 0.5 } : { expert_used: null, routing_confidence: null }),
  });
  response.end(file);
}

/** Sends the output of a video model server: a silent video, its first frame and a strip of frames. */
function sendVideo(response: ServerResponse, send: (event: ImageEvent) => void, answer: ImageAnswer): void {
  const video = answer === 'broken picture' ? Buffer.from('no video') : videoFile();
  const { webp } = pictureFiles;
  const picture = { media_type: 'image/webp', size_bytes: webp.length, width: 6, height: 4 } as const;
  send({
    ...{ type: 'done', media_type: 'video/mp4', size_bytes: video.length, width: 96, height: 64 },
    ...{ duration_s: 2.5, expert_used: null, routing_confidence: null },
    beside: [
      { role: 'poster', ...picture },
      { role: 'strip', ...picture },
    ],
  });
  response.end(Buffer.concat([video, webp, webp]));
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
