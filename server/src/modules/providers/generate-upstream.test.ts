import timers from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { spyOnBuiltin } from '../../testing/spy-on-builtin.ts';
import { generateUpstream } from './generate-upstream.ts';
import { UPSTREAM_PNG, upstreamServer } from './testing/upstream-server.ts';

const { access, state, close } = await upstreamServer();
onFileEnd(async () => close());
/** The limit for pictures. */
const MS_MAX = 10 * 60_000;

/** Returns the wait messages of a picture until it is being generated. */
async function waitsFor(generator: 'seedream' | 'flux', model: string) {
  state.answer = 'hang';
  const waits: { reason: string; isGenerating: boolean }[] = [];
  const { signal } = new AbortController();
  await generateUpstream(
    { generator, model, prompt: 'Bread', parameters: {}, readPicture: async () => null },
    {
      msMax: MS_MAX,
      config: {
        upstreams: {
          fal: access,
          replicate: access,
          blackForestLabs: access,
          byteplus: access,
          google: access,
        },
      },
      ...{ clock: fakeClock(), job: null, keepJob: async () => undefined, signal },
      onWait: (wait) => {
        waits.push(wait);
        state.answer = 'ok';
      },
    },
  );
  return waits;
}

test('deletes the stored submission of a dead process before anything else can fail', async () => {
  const kept: unknown[] = [];
  const begun = generateUpstream(
    {
      ...{ generator: 'flux-kontext', model: 'flux-kontext-pro', prompt: 'Bread', parameters: {} },
      readPicture: () => Promise.reject(new Error('the disk is away')),
    },
    {
      msMax: MS_MAX,
      config: {
        upstreams: { fal: null, replicate: null, blackForestLabs: access, byteplus: null, google: null },
      },
      ...{ clock: fakeClock(), onWait: () => undefined, signal: new AbortController().signal },
      job: { service: 'blackForestLabs', handle: null, begunAt: '2026-01-01T00:00:00Z' },
      keepJob: async (job) => void kept.push(job),
    },
  );
  await expect(begun).rejects.toThrow();
  expect(kept).toEqual([null]);
});

test('reads and sends four pictures to a service concurrently', async () => {
  state.answer = 'ok';
  const { promise: sent, resolve: send } = Promise.withResolvers<void>();
  let reading = 0;
  const waits: string[] = [];
  const picture = { bytes: UPSTREAM_PNG, mediaType: 'image/png' };
  const edits = Array.from({ length: 6 }, () =>
    generateUpstream(
      {
        ...{ generator: 'flux-kontext', model: 'flux-kontext-pro', prompt: 'Bread', parameters: {} },
        readPicture: async () => {
          reading += 1;
          await sent;
          return picture;
        },
      },
      {
        config: {
          upstreams: { fal: null, replicate: null, blackForestLabs: access, byteplus: null, google: null },
        },
        ...{ clock: fakeClock(), job: null, keepJob: async () => undefined, msMax: MS_MAX },
        onWait: ({ reason }) => waits.push(reason),
        signal: new AbortController().signal,
      },
    ),
  );
  await expect.poll(() => reading).toBe(4);
  send();
  expect(await Promise.all(edits)).toHaveLength(6);
  expect(waits.slice(0, 6)).toEqual(Array(6).fill('Waiting to send the picture to Black Forest Labs'));
  expect(reading).toBe(6);
});

test.each([
  ['seedream', 'seedream-4-0-250828', { reason: 'BytePlus is generating it', isGenerating: true }],
  ['flux', 'flux-dev', { reason: 'Black Forest Labs is generating it', isGenerating: true }],
  ['flux', 'black-forest-labs/flux-dev', { reason: 'Replicate is starting the model', isGenerating: false }],
  ['flux', 'fal-ai/flux/dev', { reason: 'Queued at fal, 2 ahead of yours', isGenerating: false }],
] as const)('%s by %s reports whether it is generating or waiting', async (generator, model, wait) => {
  expect(await waitsFor(generator, model)).toEqual([wait]);
});

test('waits a while for a submission on shutdown, then reports that the job may have started', async ({
  onTestFinished,
}) => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const late = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === 20_000 ? 50 : ms));
  const { promise: silence, resolve: fallSilent } = Promise.withResolvers<void>();
  onTestFinished(() => {
    late.mockRestore();
    fallSilent();
  });
  Object.assign(state, { answer: 'begun in silence', silence, submissions: [] });
  const stopping = new AbortController();
  const kept: unknown[] = [];
  const generated = generateUpstream(
    {
      generator: 'flux',
      model: 'fal-ai/flux/dev',
      prompt: 'Bread',
      parameters: {},
      readPicture: async () => null,
    },
    {
      msMax: MS_MAX,
      config: {
        upstreams: { fal: access, replicate: null, blackForestLabs: null, byteplus: null, google: null },
      },
      ...{ clock: fakeClock(), job: null, onWait: () => undefined, signal: stopping.signal },
      keepJob: async (job) => void kept.push(job?.handle ?? job),
    },
  );
  const ended = generated.catch((error: unknown) => error);
  await expect.poll(() => state.submissions).toHaveLength(1);
  stopping.abort(new Error('the server ends'));
  expect(await ended).toMatchObject({ code: 'unavailable', shouldRetry: false });
  // The job is deleted.
  expect(kept.at(-1)).toBeNull();
});

/** Generates with FLUX at fal. */
function generateAtFal(
  run: Pick<Parameters<typeof generateUpstream>[1], 'keepJob'> & { signal?: AbortSignal },
) {
  return generateUpstream(
    {
      ...{ generator: 'flux', model: 'fal-ai/flux/dev', prompt: 'Bread', parameters: {} },
      readPicture: async () => null,
    },
    {
      msMax: MS_MAX,
      config: {
        upstreams: { fal: access, replicate: null, blackForestLabs: null, byteplus: null, google: null },
      },
      ...{ clock: fakeClock(), job: null, onWait: () => undefined, signal: new AbortController().signal },
      ...run,
    },
  );
}

test('does not retry if the answer cannot be read, even during shutdown', async () => {
  state.answer = 'no JSON';
  const stopping = new AbortController();
  const generated = generateAtFal({
    signal: stopping.signal,
    // Shut down right before the submission.
    keepJob: async () => stopping.abort(new Error('the server ends')),
  });
  await expect(generated).rejects.toMatchObject({ code: 'internal' });
});

test('stores a started job even if the database is unreachable for a short time', async () => {
  Object.assign(state, { answer: 'ok', submissions: [] });
  let isAway = true;
  const kept: unknown[] = [];
  const generated = generateAtFal({
    keepJob: async (job) => {
      if (state.submissions.length > 0 && isAway) {
        isAway = false;
        throw new Error('Connection terminated unexpectedly');
      }
      kept.push(job);
    },
  });
  expect((await generated).addresses).toHaveLength(1);
  expect(kept).toMatchObject([{ handle: null }, { handle: expect.anything() }]);
  expect(state.submissions).toHaveLength(1);
});

const pauses = spyOnBuiltin(timers, 'setTimeout');

test.each([
  [
    'a started job that cannot be stored',
    'ok',
    (job: unknown) => (job as { handle: unknown }).handle !== null,
  ],
  [
    'a job that may have started during a database outage',
    'begun in silence',
    (job: unknown) => job === null,
  ],
] as const)('does not start %s again', async (_what, answer, isAway) => {
  state.answer = answer;
  for (let time = 1; time < 10; time += 1) pauses.mockResolvedValueOnce(undefined);
  const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
  const begun = generateUpstream(
    {
      ...{ generator: 'flux', model: 'flux-dev', prompt: 'Bread', parameters: {} },
      readPicture: async () => null,
    },
    {
      msMax: MS_MAX,
      config: {
        upstreams: { fal: null, replicate: null, blackForestLabs: access, byteplus: null, google: null },
      },
      ...{ clock: fakeClock(), job: null, onWait: () => undefined, signal: new AbortController().signal },
      keepJob: async (job) => {
        if (isAway(job)) throw away;
      },
    },
  );
  await expect(begun).rejects.toMatchObject({ code: 'unavailable', shouldRetry: false });
});
