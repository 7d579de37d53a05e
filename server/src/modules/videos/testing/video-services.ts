import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { videoFile } from '../../generations/testing/video-file.ts';

export type VideoAnswer =
  | 'ok'
  | 'waiting'
  | 'moderated'
  | 'failed'
  | 'expired'
  | 'nothing'
  | 'not offered'
  | 'not allowed'
  | 'dead link'
  | 'no video';

type Call = { method: string; path: string; key: string; body: Record<string, unknown> };
type Reply = { status: number; body: unknown };

const KEY = 'key-of-the-installation';

/** For tests: serves all video APIs on one port, each in its own format. */
export async function videoServices() {
  const state = {
    answer: 'ok' as VideoAnswer,
    calls: [] as Call[],
    /** The key header of each file download. */
    fileKeys: [] as (string | undefined)[],
    file: videoFile({ hasAudio: true, seconds: 8 }),
  };
  const server = http.createServer((request, response) => void respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const { google, answerOther } = repliesOf(state, url);

  async function respond(request: http.IncomingMessage, response: http.ServerResponse) {
    const path = request.url ?? '';
    const sent = await text(request);
    const key = String(request.headers['x-goog-api-key'] ?? request.headers.authorization);
    if (path.startsWith('/files/')) {
      state.fileKeys.push(request.headers['x-goog-api-key'] as string | undefined);
      if (state.answer === 'dead link') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'video/mp4' });
      return void response.end(state.answer === 'no video' ? '<html>'.repeat(50) : state.file);
    }
    const body = sent === '' ? {} : (JSON.parse(sent) as Record<string, unknown>);
    state.calls.push({ method: request.method ?? '', path, key, body });
    const { status, body: said } = path.startsWith('/v1beta/')
      ? google(path)
      : answerOther(request.method, path);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  }

  return {
    state,
    access: { key: KEY, url },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Returns functions that answer the calls of each service. */
function repliesOf(state: { answer: VideoAnswer }, url: string) {
  function google(path: string): Reply {
    const error = (code: number, name: string) => ({
      status: code,
      body: { error: { code, status: name, message: 'in its own words' } },
    });
    if (path.endsWith(':predictLongRunning')) {
      if (state.answer === 'not allowed') return error(400, 'FAILED_PRECONDITION');
      if (state.answer === 'not offered') return error(404, 'NOT_FOUND');
      return { status: 200, body: { name: 'models/veo-3.0-generate-001/operations/abc123' } };
    }
    const done = (more: object) => ({
      status: 200,
      body: { name: 'models/x/operations/abc123', done: true, ...more },
    });
    const response = (generateVideoResponse: object) => done({ response: { generateVideoResponse } });
    if (state.answer === 'waiting') return { status: 200, body: { name: 'models/x/operations/abc123' } };
    if (state.answer === 'failed') return done({ error: { code: 13, message: 'broken' } });
    if (state.answer === 'moderated')
      return response({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['not allowed'] });
    if (state.answer === 'nothing') return response({});
    return response({ generatedSamples: [{ video: { uri: `${url}/files/veo.mp4` } }] });
  }

  function answerOther(method: string | undefined, path: string): Reply {
    if (path.startsWith('/api/v3/')) return bytePlus(method, path);
    // fal's queue.
    if (path.endsWith('/status')) return { status: 200, body: { status: 'COMPLETED' } };
    if (method === 'GET') return { status: 200, body: { video: { url: `${url}/files/fal.mp4` } } };
    const at = `${url}/fal-ai/any/requests/job_1`;
    const addresses = { status_url: `${at}/status`, response_url: at, cancel_url: `${at}/cancel` };
    return { status: 200, body: { status: 'IN_QUEUE', request_id: 'job_1', ...addresses } };
  }

  function bytePlus(method: string | undefined, path: string): Reply {
    if (method === 'POST') return { status: 200, body: { id: 'cgt-2026-1' } };
    if (method === 'DELETE') return { status: 200, body: {} };
    const task = (status: string, more: object = {}) => ({
      status: 200,
      body: { id: path, status, ...more },
    });
    if (state.answer === 'waiting') return task('queued');
    if (state.answer === 'expired') return task('expired');
    if (state.answer === 'failed')
      return task('failed', { error: { code: 'InternalServiceError', message: 'no' } });
    if (state.answer === 'moderated')
      return task('failed', { error: { code: 'OutputVideoSensitiveContentDetected', message: 'no' } });
    return task(
      'succeeded',
      state.answer === 'nothing' ? {} : { content: { video_url: `${url}/files/seedance.mp4` } },
    );
  }

  return { google, answerOther };
}
