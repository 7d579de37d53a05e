import { listModels } from '@bakehouse/contract/chat';
import { type Generation, quoteGeneration } from '@bakehouse/contract/generations';
import { listGenerators } from '@bakehouse/contract/generators';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import type { UpstreamAnswer } from '../../providers/testing/upstream-server.ts';
import { leaseNext } from '../queue/queue.ts';
import { serviceGenerations } from '../testing/service-generations.ts';

const setting = await serviceGenerations();
const {
  server,
  clock,
  upstream,
  connect,
  startGenerationLoop,
  start,
  startHanging,
  read,
  held,
  charges,
  untilEnded,
} = setting;

let ada: TestUser;
let loop: LeaseLoop;
afterEach(() => loop.stop());
beforeEach(async () => {
  loop = startGenerationLoop();
  ada = await setting.begin();
});

const services = [
  [
    'fal',
    'hidream',
    { aspect_ratio: '16:9', n: 2, negative_prompt: 'crumbs', seed: 7 },
    {
      path: '/fal-ai/hidream-i1-full',
      authorization: 'Key key-of-the-installation',
      body: {
        ...{ prompt: 'A loaf of bread', image_size: 'landscape_16_9', num_images: 2, seed: 7 },
        ...{ guidance_scale: 5, num_inference_steps: 50, negative_prompt: 'crumbs', output_format: 'png' },
      },
    },
    '2.5',
  ],
  [
    'replicate',
    'ideogram',
    { aspect_ratio: '3:4', style: 'design' },
    {
      path: '/v1/models/ideogram-ai/ideogram-v3-balanced/predictions',
      authorization: 'Bearer key-of-the-installation',
      body: { input: { prompt: 'A loaf of bread', aspect_ratio: '3:4', style_type: 'Design' } },
    },
    '1.5',
  ],
  [
    'blackForestLabs',
    'flux',
    { aspect_ratio: '4:3', num_inference_steps: 20, seed: 7 },
    {
      path: '/v1/flux-dev',
      authorization: 'key-of-the-installation',
      body: {
        ...{ prompt: 'A loaf of bread', width: 1152, height: 864, steps: 20, seed: 7 },
        output_format: 'png',
      },
    },
    '0.625',
  ],
  [
    'byteplus',
    'seedream',
    { aspect_ratio: '9:16' },
    {
      path: '/api/v3/images/generations',
      authorization: 'Bearer key-of-the-installation',
      body: {
        ...{ model: 'seedream-4-0-250828', prompt: 'A loaf of bread', size: '1440x2560' },
        ...{ response_format: 'url', watermark: false, sequential_image_generation: 'disabled' },
      },
    },
    '0.75',
  ],
] as const;

test('a service rejects a LoRA with an error that names the service', async () => {
  const asked = start('flux', { lora: '019b0000-0000-7000-8000-000000000000' });
  await expect(asked).rejects.toMatchObject({
    status: 400,
    body: {
      error: { param: 'parameters.lora', message: expect.stringMatching(/^fal does not support LoRAs; /) },
    },
  });
});

describe.each(services)('%s', (name, generator, parameters, submission, cost) => {
  beforeEach(() => connect(name));

  test('generates with the mapped parameters, stores the files and charges the price', async () => {
    const started = await start(generator, parameters);
    expect(started).toMatchObject({ provider: 'upstream', state: 'queued', cost });
    const done = await untilEnded(started.id);
    expect(done).toMatchObject({ state: 'completed', service: expect.any(String), cost, reason: '' });
    expect(upstream.state.submissions).toEqual([submission]);
    expect(done.outputs).toHaveLength('n' in parameters ? parameters.n : 1);
    for (const output of done.outputs) {
      expect(output).toMatchObject({ media_type: 'image/png', width: 3, height: 2 });
      const file = await fetch(new URL(output.url, server.url));
      expect((await file.arrayBuffer()).byteLength).toBe(output.size_bytes);
    }
    expect(new Set(done.outputs.map(({ download_url }) => download_url)).size).toBe(done.outputs.length);
    expect([await charges(), await held()]).toEqual([[cost], '0']);
    if (!('seed' in parameters)) expect([done.seed, done.parameters.seed]).toEqual([null, undefined]);
  });

  test.each<[UpstreamAnswer, string | RegExp, number]>([
    ['moderated', / rejected the prompt or the result under its content policy$/, 1],
    ['refused', / refused this: ensure this value has at most 10 characters$/, 1],
    ['no key', / does not accept this server's key\. Please tell its operator$/, 1],
    ['no credit', /^This server's account at .+ has no credit left\. Please tell its operator$/, 1],
    ['not offered', / does not offer .+ to this server's account\. Please tell its operator$/, 1],
    [
      'another form',
      / answered in a way that this server does not understand\. Please tell its operator$/,
      1,
    ],
    ['no JSON', / answered in a way that this server does not understand\. Please tell its operator$/, 1],
  ])('that responds with %s costs nothing, and the reason is shown', async (answer, reason, submissions) => {
    upstream.state.answer = answer;
    const { id } = await start(generator);
    const ended = await untilEnded(id);
    expect(ended).toMatchObject({ state: 'failed', cost: '0', outputs: [] });
    expect(ended.reason).toMatch(reason);
    expect(ended.refused).toBe(answer === 'moderated' || answer === 'refused');
    expect(upstream.state.submissions).toHaveLength(submissions);
    expect([await charges(), await held()]).toEqual([[], '0']);
  });
});

describe.each([services[0], services[3]])('%s', (name, generator) => {
  beforeEach(() => connect(name));

  test.each<UpstreamAnswer>(['begun in silence', 'no answer of its own'])(
    'that may have started a picture is not retried: %s',
    async (answer) => {
      upstream.state.answer = answer;
      const { id } = await start(generator);
      const ended = await untilEnded(id);
      expect(ended).toMatchObject({ state: 'failed', refused: false, cost: '0' });
      expect(ended.reason).toMatch(
        / did not confirm that it had started on this picture\. You can generate it again$/,
      );
      expect(upstream.state.submissions).toHaveLength(1);
      expect([await charges(), await held()]).toEqual([[], '0']);
    },
  );

  test('with an internal error is called three times at no cost', async () => {
    upstream.state.answer = 'in trouble';
    const { id } = await start(generator);
    expect((await untilEnded(id)).reason).toMatch(/ is having problems$/);
    expect(upstream.state.submissions).toHaveLength(3);
    expect([await charges(), await held()]).toEqual([[], '0']);
  });

  test('that is busy is called again until it accepts the request', async () => {
    Object.assign(upstream.state, { answer: 'busy', retryAfter: '0' });
    const { id } = await start(generator);
    for (let asked = 1; asked <= 4; asked += 1) {
      await vi.waitFor(() => expect(upstream.state.submissions).toHaveLength(asked));
      const waiting = { state: 'queued', reason: expect.stringMatching(/ is busy\. Trying again$/) };
      await vi.waitFor(async () => expect(await read(id)).toMatchObject(waiting));
      clock.advance({ seconds: 3 });
    }
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(await charges()).toHaveLength(1);
  });

  test.each<[UpstreamAnswer, RegExp]>([
    ['nothing', / returned no picture$/],
    ['no picture', / generated it, but the file it returned is not a complete picture$/],
    ['cut off', / generated it, but the file it returned is not a complete picture$/],
    ['dead link', / generated it, but its picture could not be fetched$/],
    ['inside link', / generated it, but its picture could not be fetched$/],
  ])('that delivers %s costs nothing and is not retried', async (answer, reason) => {
    upstream.state.answer = answer;
    const { id } = await start(generator);
    const ended = await untilEnded(id);
    expect(ended.reason).toMatch(reason);
    expect(ended).toMatchObject({ state: 'failed', cost: '0', outputs: [] });
    expect(upstream.state.submissions).toHaveLength(1);
    expect([await charges(), await held()]).toEqual([[], '0']);
  });
});

const withJobs = services.filter(([name]) => name !== 'byteplus');

describe.each(withJobs)('a job at %s', (name, generator) => {
  beforeEach(() => connect(name));

  test('is submitted three times if it fails or the service does not know it', async () => {
    for (const answer of ['forgotten', 'failed'] as const) {
      Object.assign(upstream.state, { answer, submissions: [] });
      const { id } = await start(generator);
      expect(await untilEnded(id)).toMatchObject({ state: 'failed', cost: '0' });
      expect(upstream.state.submissions).toHaveLength(3);
    }
  });

  test('is polled until an unreachable service responds', async () => {
    const id = await startHanging(generator);
    upstream.state.answer = 'gone silent';
    // The job runs at Black Forest Labs; the other services still have it in their queues.
    const state = name === 'blackForestLabs' ? 'running' : 'starting';
    const silent = { state, reason: expect.stringMatching(/ does not answer\. Trying again$/) };
    await vi.waitFor(async () => expect(await read(id)).toMatchObject(silent));
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(upstream.state.submissions).toHaveLength(1);
  });

  test('is not paid twice if its worker is killed', async () => {
    const id = await startHanging(generator);
    await loop.stop();
    // Killed rather than shut down: all that remains is its lease.
    const dead = await leaseNext(server.services, { own: 0, upstream: 1 });
    expect(dead).toMatchObject({ lease: { id } });
    upstream.state.answer = 'ok';
    clock.advance({ seconds: 16 });
    loop = startGenerationLoop();
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(upstream.state.submissions).toHaveLength(1);
    expect(await charges()).toHaveLength(1);
  });
});

test('a service without free slots does not block other services', async () => {
  connect('fal', 'byteplus');
  upstream.state.answer = 'hang';
  const started = [];
  for (let n = 0; n < 6; n += 1) started.push(await start('recraft'));
  started.push(await start('seedream'));
  const paths = () => upstream.state.submissions.map(({ path }) => path);
  await expect.poll(paths).toContain(services[3][3].path);
  const atFal = () => paths().filter((path) => path.includes('recraft'));
  await expect.poll(atFal).toHaveLength(3);
  // Waiting generations would otherwise run during later tests.
  upstream.state.answer = 'ok';
  for (const { id } of started) expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
});

describe('fal', () => {
  test('charges only for delivered pictures, not for pictures that its safety check rejects', async () => {
    upstream.state.answer = 'one flagged';
    const { id, cost } = await start('flux', { n: 4 });
    expect(cost).toBe('2.5');
    const done = await untilEnded(id);
    expect(done.outputs).toHaveLength(3);
    expect(done.reason).toBe('1 of 4 pictures could not be delivered and was not charged.');
    expect([done.cost, await charges(), await held()]).toEqual(['1.875', ['1.875'], '0']);
  });

  test.each(['30', 'a date'])('honours Retry-After: %s', async (form) => {
    clock.advance({ hours: 1 });
    const date = new Date(clock.now().getTime() + 30_000).toUTCString();
    Object.assign(upstream.state, { answer: 'busy', retryAfter: form === 'a date' ? date : form });
    const { id } = await start('flux');
    await expect.poll(async () => (await read(id)).reason).toContain('Trying again');
    upstream.state.answer = 'ok';
    clock.advance({ seconds: 25 });
    await loop.stop();
    loop = startGenerationLoop();
    await loop.stop();
    expect(upstream.state.submissions).toHaveLength(1);
    loop = startGenerationLoop();
    clock.advance({ seconds: 6 });
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
  });

  test('times out after ten minutes of generating and does not start again', async () => {
    upstream.state.answer = 'generating';
    const { id } = await start('flux');
    await vi.waitFor(async () => expect(await read(id)).toMatchObject({ state: 'running' }));
    await loop.stop();
    clock.advance({ minutes: 11 });
    loop = startGenerationLoop();
    const ended = { state: 'failed', reason: 'fal did not finish within 10 minutes', cost: '0' };
    expect(await untilEnded(id)).toMatchObject(ended);
    expect(upstream.state.submissions).toHaveLength(1);
  });

  test('is polled after the ten minutes for a paid job if it did not respond', async () => {
    const id = await startHanging('flux');
    await loop.stop();
    upstream.state.answer = 'gone silent';
    // The job is still polled after this server was down for hours.
    clock.advance({ hours: 2 });
    loop = startGenerationLoop();
    await expect.poll(async () => (await read(id)).reason).toContain('Trying again');
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(upstream.state.submissions).toHaveLength(1);
  });

  test('cancels a queued job after ten minutes and starts another one', async () => {
    const id = await startHanging('flux');
    await loop.stop();
    clock.advance({ minutes: 11 });
    loop = startGenerationLoop();
    const late = 'fal did not finish within 10 minutes. Trying again';
    await vi.waitFor(async () => expect((await read(id)).reason).toBe(late));
    expect(upstream.state.cancelled).toEqual(['job_1']);
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(upstream.state.submissions).toHaveLength(2);
  });

  test('is listed with its fields and price', async () => {
    const { generators } = await server.request(listGenerators, {});
    expect(generators.find(({ name }) => name === 'recraft')).toEqual({
      name: 'recraft',
      served_by: ['upstream'],
      starter: null,
      is_being_prepared: false,
      is_connectable: true,
      upstreams: [
        {
          ...{ title: 'fal', model: 'fal-ai/recraft/v3/text-to-image', price: '1' },
          fields: ['aspect_ratio', 'style'],
        },
      ],
      inference_url: null,
    });
    expect(generators.find(({ name }) => name === 'imagen')).toMatchObject({ served_by: [], upstreams: [] });
    const quote = (parameters: Generation['parameters']) =>
      server.request(quoteGeneration, { body: { generator: 'flux', parameters } }, { as: ada });
    expect(await quote({ n: 3 })).toEqual({ cost: '1.875' });
    await expect(quote({ seed: 2 ** 31 })).rejects.toMatchObject({
      body: { error: { param: 'parameters.seed', message: 'Seed must be at most 2147483647' } },
    });
    await expect(quote({ n: 5 })).rejects.toMatchObject({ body: { error: { param: 'parameters.n' } } });
    connect('blackForestLabs');
    await expect(quote({ n: 2 })).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'parameters.n', message: 'FLUX.1 has no parameter n' } },
    });
  });

  test('fails waiting generations if its key is removed', async () => {
    await loop.stop();
    const { id } = await start('flux');
    connect();
    loop = startGenerationLoop();
    const ended = await untilEnded(id);
    expect(ended).toMatchObject({ state: 'failed', reason: 'fal is no longer connected', cost: '0' });
    await expect(start('flux')).rejects.toMatchObject({ status: 409 });
  });
});

describe("OpenAI's images API, by its own client", () => {
  const client = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });

  test('generates by the listed names', async () => {
    const { data: models } = await server.request(listModels, {}, { as: ada });
    expect(models.filter(({ task }) => task === 'image').map(({ id }) => id)).toContain('qwen-image');
    const { data } = await client().images.generate({
      ...{ model: 'qwen-image', prompt: 'Bread', n: 2, size: '1024x1024' },
    });
    expect(data).toHaveLength(2);
    expect((await fetch(data?.[1]?.url ?? '')).headers.get('content-type')).toBe('image/png');
    expect(upstream.state.submissions[0]?.body).toMatchObject({ num_images: 2, image_size: 'square_hd' });
  });

  test.each(['1792x1024', '1344x768', '1280x720'] as const)(
    'generates %s in the nearest shape',
    async (size) => {
      await client().images.generate({ model: 'qwen-image', prompt: 'Bread', size } as never);
      expect(upstream.state.submissions[0]?.body).toMatchObject({ image_size: 'landscape_16_9' });
    },
  );

  test.each([
    ['size', { model: 'flux', size: '1024x' }],
    ['size', { model: 'flux', size: '1536x1024' as const }],
    ['output_format', { model: 'flux', output_format: 'webp' as const }],
    ['n', { model: 'recraft', n: 2 }],
    ['n', { model: 'flux', n: 5 }],
    ['model', { model: 'imagen' }],
  ])('names %s in the error that rejects it: %j', async (param, wrong) => {
    const asked = client().images.generate({ prompt: 'Bread', ...wrong });
    await expect(asked).rejects.toMatchObject({ error: { param } });
    expect(upstream.state.submissions).toEqual([]);
  });
});
