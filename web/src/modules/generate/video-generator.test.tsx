import { act, cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { FakeApi } from '../gallery/testing/fake-api.ts';
import { generationOf, unfinished } from '../gallery/testing/generation-of.ts';
import { renderPage } from '../gallery/testing/render-page.tsx';
import { servedGeneratorsQuery } from './served-generators.ts';

const fake = vi.hoisted(() => ({ api: null as unknown as FakeApi }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: (...call: Parameters<FakeApi['call']>) => fake.api.call(...call),
  callRaw: async () => new Response(''),
}));

beforeAll(() => Promise.all([import('./generator-page.tsx'), import('./form/generator-settings.tsx')]));
beforeEach(() => {
  cleanup();
  fake.api = new FakeApi();
});

const video = {
  ...({ generator: 'veo', provider: 'upstream', service: 'Google', model: 'veo-3.0-generate-001' } as const),
  parameters: { duration: '8', quality: 'hd', generate_audio: true },
  outputs: [
    {
      ...{ id: 'o1', url: '/video.mp4', thumbnail_url: '/poster.webp', download_url: '/video.mp4' },
      ...{ media_type: 'video/mp4', width: 1280, height: 720, size_bytes: 9 },
      ...{ duration_s: 8, frames: 192, has_audio: true, strip_url: null },
    },
  ],
};

/** Sets a generator's providers. Cancels pending reads, which would overwrite them. */
async function serve(name: string, served: object): Promise<void> {
  const { queryKey } = servedGeneratorsQuery;
  await queryClient.cancelQueries({ queryKey });
  act(() => void queryClient.setQueryData(queryKey, { [name]: served } as never));
}

/** Opens the page of a generator that Google serves with these fields. */
async function open(name: string, fields: string[] | null) {
  const router = await renderPage(`/${name}`);
  const upstreams = fields ? [{ title: 'Google', model: 'veo-3.0-generate-001', fields, price: '150' }] : [];
  const served = { served_by: fields ? ['upstream'] : [], upstreams, is_connectable: true };
  await serve(name, served);
  return router;
}

/** Waits until the page is complete, because a button that is replaced loses its click. */
async function tryExample(name: string): Promise<void> {
  await screen.findByRole('heading', { name: 'Other generators' });
  await userEvent.click(screen.getByRole('button', { name }));
}

async function generate(): Promise<void> {
  const button = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Generate' });
  await waitFor(() => expect(button().disabled).toBe(false));
  await userEvent.click(button());
}

test('a page without a provider shows that instead of a form', async () => {
  await open('veo', null);
  expect(await screen.findByText('Veo 3 is not connected to this server')).toBeTruthy();
  expect(screen.queryByRole('textbox', { name: 'Prompt' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Generate' })).toBeNull();
});

test("the starter's page opens with suitable values and omits fields that it fixes", async () => {
  await renderPage('/wan');
  await serve('wan', { served_by: ['own'], upstreams: [] });
  expect(
    await screen.findByText(
      'Starter model, 64 × 64, about 2 seconds, silent, best at single objects that move',
    ),
  ).toBeTruthy();
  expect(screen.getByText('16 steps, guidance 3')).toBeTruthy();
  expect(screen.queryByText('Duration')).toBeNull();
  expect(screen.queryByText('Aspect ratio')).toBeNull();
  await tryExample('a lemon moves up');
  fake.api.next = unfinished({ ...video, generator: 'wan', outputs: [] });
  await generate();
  await waitFor(() => expect(fake.api.bodiesOf('/api/v1/generations')).toHaveLength(1));
  expect(fake.api.bodiesOf('/api/v1/generations')[0]).toMatchObject({
    ...{ generator: 'wan', model: 'wan-starter', prompt: 'a lemon moves up' },
    parameters: { guidance_scale: 3, num_inference_steps: 16, negative_prompt: '' },
  });
});

test('the starter replaces a video model without a provider, without the settings that it ignores', async () => {
  await renderPage('/veo');
  await serve('veo', { served_by: ['own'], upstreams: [] });
  expect(await screen.findByText('Veo 3 is not connected to this server')).toBeTruthy();
  expect(screen.getByText(/^Starter model, 64 × 64, about 2 seconds, silent/)).toBeTruthy();
  await tryExample('a lemon moves up');
  fake.api.next = unfinished({ ...video, generator: 'veo', outputs: [] });
  await generate();
  await waitFor(() => expect(fake.api.bodiesOf('/api/v1/generations')).toHaveLength(1));
  expect(fake.api.bodiesOf('/api/v1/generations')[0]).toMatchObject({
    ...{ generator: 'veo', model: 'wan-starter', prompt: 'a lemon moves up' },
    parameters: { negative_prompt: '' },
  });
  expect(screen.getByText('Starter model')).toBeTruthy();
  for (const setting of ['Duration', 'Quality', 'Sound']) expect(screen.queryByText(setting)).toBeNull();
});

test("the user's Wan offers length and aspect ratio", async () => {
  fake.api.deployments = [{ pod_id: 'p1', model_name: 'my-video', title: 'My video', status: 'running' }];
  await renderPage('/wan');
  expect(await screen.findByText('Duration')).toBeTruthy();
  expect(screen.getByText('30 steps, guidance 5')).toBeTruthy();
});

test("sends the form's values, and a first frame only if one is chosen", async () => {
  await open('veo', ['duration', 'quality', 'negative_prompt', 'image']);
  await screen.findByText(/^Generated by Google\. Your prompt is sent to Google/);
  fake.api.next = unfinished({ ...video, outputs: [] });
  await userEvent.type(screen.getByRole('textbox', { name: 'Prompt' }), 'A loaf rises');
  await generate();
  await waitFor(() => expect(fake.api.bodiesOf('/api/v1/generations')).toHaveLength(1));
  expect(fake.api.bodiesOf('/api/v1/generations')[0]).toMatchObject({
    ...{ generator: 'veo', prompt: 'A loaf rises' },
    parameters: { duration: '8', quality: 'hd', negative_prompt: '' },
  });
  expect(await screen.findByText('Google has started, so it can no longer be cancelled')).toBeTruthy();
});

test('Veo shows an estimate if the server has no price', async () => {
  fake.api.cost = null;
  await open('veo', ['duration', 'quality', 'generate_audio']);
  expect(await screen.findByText(/\$6\.00|150\.00 BGL/)).toBeTruthy();
});

test('plays a video with its poster, and shows its length, size and sound', async () => {
  fake.api.generations = [generationOf(video)];
  await open('veo', ['duration']);
  const player = await screen.findByLabelText<HTMLVideoElement>('A loaf of bread');
  expect([
    player.tagName,
    player.getAttribute('src'),
    player.getAttribute('poster'),
    player.controls,
  ]).toEqual([...['VIDEO', '/video.mp4', '/poster.webp'], true]);
  expect(screen.getByText('8 seconds, 1280 × 720 pixels, with sound')).toBeTruthy();
});

test('resumes the first unfinished video on load', async () => {
  const done = generationOf({ ...video, id: 'g3' });
  fake.api.generations = [
    done,
    unfinished({ ...video, id: 'g2', outputs: [], reason: 'Google is generating it' }),
  ];
  await open('veo', ['duration']);
  expect(await screen.findByText('Google is generating it')).toBeTruthy();
});

test.each([
  ['seedance', 20],
  ['veo', 100],
] as const)('the history of %s has at most %i videos', async (name, most) => {
  fake.api.generations = Array.from({ length: 101 }, (_, at) =>
    generationOf({ ...video, id: `g${at}`, generator: name }),
  );
  await open(name, ['duration']);
  await screen.findByText('Recent videos');
  await waitFor(() => expect(screen.getAllByRole('link', { name: /a video/ })).toHaveLength(most));
});

test('the history shows the age of each video', async () => {
  const ago = new Date(Date.now() - 3 * 3_600_000).toISOString();
  fake.api.generations = [
    generationOf({ ...video, created_at: ago }),
    generationOf({ ...video, id: 'g2', created_at: new Date().toISOString() }),
  ];
  await open('veo', ['duration']);
  expect(await screen.findByText('3 hours ago')).toBeTruthy();
  expect(screen.getByText('Just now')).toBeTruthy();
});

test('a video in a list plays on hover', async () => {
  const play = vi.spyOn(HTMLMediaElement.prototype, 'play').mockResolvedValue();
  fake.api.generations = [generationOf(video)];
  await open('veo', ['duration']);
  const tile = await screen.findByRole('link', { name: /A loaf of bread, a video/ });
  const still = tile.querySelector('img');
  expect(still?.getAttribute('src')).toBe('/poster.webp');
  fireEvent.pointerEnter(still?.parentElement as Element, { pointerType: 'mouse' });
  expect(tile.querySelector('video')?.getAttribute('src')).toBe('/video.mp4');
  play.mockRestore();
});
