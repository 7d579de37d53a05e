import type { Generation } from '@bakehouse/contract/generations';
import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { upload } from '../../lib/api/upload.ts';
import { notify } from '../../ui/notify.ts';
import { notifyFailures } from '../../ui/notify-failure.ts';
import { pictureProblem } from '../gallery/edit-picture/picture-problem.ts';
import { FakeApi } from '../gallery/testing/fake-api.ts';
import { generationOf, unfinished } from '../gallery/testing/generation-of.ts';
import { renderPage } from '../gallery/testing/render-page.tsx';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));
vi.mock('../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));
// Pictures are not decoded in tests.
vi.mock('../gallery/edit-picture/picture-problem.ts', () => ({
  pictureProblem: vi.fn<typeof pictureProblem>(),
}));

// Loaded up front, so that tests do not depend on load time.
beforeAll(() =>
  Promise.all([
    import('./generator-page.tsx'),
    import('./own-results.tsx'),
    import('../gallery/edit-picture/source-field.tsx'),
    import('./form/generator-settings.tsx'),
    import('../gallery/gallery/generation-page.tsx'),
  ]),
);

const usableKontext = ['deployment', 'list', 'flux-kontext', 'u1', 'usable'];

let api: FakeApi;
let bread: File;
beforeEach(() => {
  // The server already has one uploaded picture.
  bread = new File(['bytes'], 'bread.png', { type: 'image/png' });
  api = new FakeApi();
  server.api = api;
  vi.mocked(pictureProblem).mockReset().mockResolvedValue(null);
  vi.mocked(upload).mockReset().mockResolvedValue({ id: 'p1' });
});

const source = {
  generation_id: null,
  output_id: null,
  url: '/source.png',
  thumbnail_url: '/source.png',
  mask_url: null,
  media_type: 'image/png',
  width: 1,
  height: 1,
};
const generated = generationOf({ id: 'g1' });
const edit = (changed: Partial<Generation> = {}) =>
  generationOf({
    id: 'e1',
    generator: 'flux-kontext',
    prompt: 'a hat on it',
    parameters: { guidance_scale: 2.5, num_inference_steps: 20, seed: null },
    expert_weights: null,
    expert_used: null,
    routing_confidence: null,
    source,
    root_id: 'e1',
    created_at: '2026-01-01T00:01:00.000Z',
    ...changed,
  });
const editing = (changed: Partial<Generation> = {}) =>
  edit({ ...unfinished(), generator: 'flux-kontext', id: 'e1', prompt: 'a hat on it', source, ...changed });
const asked = () => api.bodiesOf('/api/v1/generations');
const prompt = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
const results = () => within(screen.getByRole('region', { name: 'Results' }));

async function fillAndGenerate(file = bread) {
  await userEvent.upload(await screen.findByLabelText('Choose a file'), file);
  await screen.findByText(file.name);
  await userEvent.type(prompt(), 'a hat on it');
  await within(await screen.findByRole('group', { name: 'Price' })).findByText('$0.02');
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
}

it('uploads and edits a picture; the history shows a placeholder in the meantime', async () => {
  let arrive: (sent: { id: string }) => void = () => undefined;
  vi.mocked(upload).mockImplementation((_endpoint, _params, _file, options) => {
    options?.onProgress?.(1, 4);
    return new Promise((resolve) => {
      arrive = resolve;
    });
  });
  await renderPage('/flux-kontext');
  await fillAndGenerate();
  expect(await results().findByText('Uploading the picture')).toBeTruthy();
  expect(results().getByRole('progressbar').getAttribute('aria-valuenow')).toBe('25');
  expect(screen.getByRole('img', { name: 'An edit, processing' }).title).toBe('Processing, about 2.5 MB');

  api.next = editing();
  arrive({ id: 'p1' });
  expect(await screen.findByText('Step 5 of 20')).toBeTruthy();
  expect(screen.queryByRole('img', { name: 'An edit, processing' })).toBeNull();
  expect(asked()).toEqual([
    {
      generator: 'flux-kontext',
      prompt: 'a hat on it',
      parameters: { guidance_scale: 2.5, num_inference_steps: 20, strength: 1, negative_prompt: '' },
      picture_id: 'p1',
      cost_max: '0.5',
    },
  ]);
});

it('shows a finished edit over its source, refreshes the history, and Start over clears everything', async () => {
  const notified = vi.fn();
  window.addEventListener('fluxKontextHistoryRefresh', notified);
  await renderPage('/flux-kontext');
  api.next = edit();
  await fillAndGenerate();
  expect(await screen.findByRole('slider', { name: 'Before and after' })).toBeTruthy();
  await waitFor(() => expect(notified).toHaveBeenCalledOnce());
  window.removeEventListener('fluxKontextHistoryRefresh', notified);

  await userEvent.click(screen.getByRole('button', { name: 'Start over' }));
  expect(await screen.findByText('Your pictures appear here')).toBeTruthy();
  expect(prompt().value).toBe('');
  expect(screen.queryByText('bread.png')).toBeNull();
});

it.each([
  ['ended long ago is shown without an announcement', edit(), 0],
  ['is in progress is announced when it ends', editing(), 1],
])('an edit that %s', async (_what, opened, times) => {
  const notified = vi.fn();
  window.addEventListener('fluxKontextHistoryRefresh', notified);
  api.generations = [opened];
  await renderPage('/flux-kontext');
  await waitFor(() => expect(results().getByText('a hat on it')).toBeTruthy());
  act(() => void queryClient.setQueryData(['generation', 'one', 'e1'], edit()));
  expect(await screen.findByRole('slider', { name: 'Before and after' })).toBeTruthy();
  window.removeEventListener('fluxKontextHistoryRefresh', notified);
  expect(notified).toHaveBeenCalledTimes(times);
});

it("the starter model reads a short prompt; the user's own deployment reads more", async () => {
  await renderPage('/flux-kontext');
  expect(screen.getByText('Keep it short: about 20 words.')).toBeTruthy();
  const own = [{ pod_id: 'p1', status: 'running' }];
  act(() => void queryClient.setQueryData(usableKontext, own));
  await waitFor(() => expect(screen.queryByText(/^Keep it short/)).toBeNull());
});

it('notes how the starter model crops a picture, but not for another model', async () => {
  await renderPage('/flux-kontext');
  const note = /^Edited as a 128-pixel square/;
  expect(screen.queryByText(note)).toBeNull();
  await userEvent.upload(await screen.findByLabelText('Choose a file'), bread);
  await screen.findByText(note);
  act(() => void queryClient.setQueryData(usableKontext, [{ pod_id: 'p1', status: 'running' }]));
  await waitFor(() => expect(screen.queryByText(note)).toBeNull());
});

it('an unreadable price is shown as unknown, not as free', async () => {
  api.cost = null;
  await renderPage('/flux-kontext');
  const price = await screen.findByRole('group', { name: 'Price' });
  await waitFor(() => expect(price.textContent).toContain('Unknown'));
  expect(price.textContent).not.toMatch(/Free|0\.00/);
});

it('reloads the history when an edit has ended', async () => {
  await renderPage('/flux-kontext');
  await screen.findByText(/^What you generate appears here/);
  api.generations = [edit()];
  window.dispatchEvent(new Event('fluxKontextHistoryRefresh'));
  expect(await screen.findByRole('link', { name: /^a hat on it/ })).toBeTruthy();
});

it('a failed start shows why, and a retry does not upload the picture again', async () => {
  await renderPage('/flux-kontext');
  api.refusal = new ApiError('The machine has no room', { status: 503 });
  await fillAndGenerate();
  expect((await screen.findByRole('alert')).textContent).toContain('The machine has no room');

  api.refusal = null;
  api.next = editing();
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Step 5 of 20')).toBeTruthy();
  expect(asked()).toHaveLength(2);
  expect(asked()[0]).toEqual(asked()[1]);
  expect(upload).toHaveBeenCalledOnce();
});

it('a retry is rejected if the form has become invalid', async () => {
  await renderPage('/flux-kontext');
  api.refusal = new ApiError('The machine has no room', { status: 503 });
  await fillAndGenerate();
  await screen.findByRole('alert');
  await userEvent.clear(prompt());
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Please enter a prompt')).toBeTruthy();
  expect(asked()).toHaveLength(1);
});

it('insufficient credit shows the required amount and a link to buy more', async () => {
  const notified = vi.spyOn(notify, 'failure').mockImplementation(() => undefined);
  notifyFailures(queryClient);
  await renderPage('/flux-kontext');
  api.refusal = new ApiError('Insufficient balance', {
    status: 402,
    code: 'insufficient_funds',
    requiredAmount: '0.5',
    availableAmount: '0.25',
  });
  await fillAndGenerate();
  const sentence = 'Insufficient balance. Required: $0.02. Available: $0.01.';
  expect((await screen.findByRole('alert')).textContent).toContain(sentence);
  expect(notified).toHaveBeenCalledExactlyOnceWith(
    `Image editing failed: ${sentence}`,
    expect.objectContaining({ action: expect.objectContaining({ label: 'Purchase Image Editing Credits' }) }),
  );
});

it('rejects a second edit with a message while one is in progress', async () => {
  api.generations = [editing()];
  await renderPage('/flux-kontext');
  await screen.findByText('Step 5 of 20');
  await fillAndGenerate();
  expect((await screen.findByRole('alert')).textContent).toMatch(/^A picture is still being generated/);
  expect(upload).not.toHaveBeenCalled();
});

it('rejects an invalid file at its field and sends nothing', async () => {
  vi.mocked(pictureProblem).mockResolvedValue('The picture must be a PNG, JPEG or WebP file');
  await renderPage('/flux-kontext');
  const choose = await screen.findByLabelText('Choose a file');
  await userEvent.upload(choose, bread, { applyAccept: false });
  expect(await screen.findByText('The picture must be a PNG, JPEG or WebP file')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  expect(document.activeElement?.textContent).toBe('Choose a file');
  expect(upload).not.toHaveBeenCalled();
});

it('accepts a picture pasted anywhere on the page', async () => {
  await renderPage('/flux-kontext');
  await screen.findByLabelText('Choose a file');
  fireEvent.paste(document.body, { clipboardData: { files: [bread] } });
  expect(await screen.findByText('bread.png')).toBeTruthy();
});

it('edits a generated picture again and adds it to the tree', async () => {
  const first = edit({ source: { ...source, generation_id: 'g1' }, root_id: 'g1' });
  api.generations = [first, generated];
  const router = await renderPage('/gallery/g1');
  await userEvent.click(await screen.findByRole('link', { name: 'Edit this picture' }));
  expect(await screen.findByText('From your gallery')).toBeTruthy();
  await waitFor(() => expect(router.state.location.search).toEqual({}));

  const tree = within(await results().findByRole('list', { name: 'Edits' }));
  expect(tree.getAllByRole('link').map(({ textContent }) => textContent)).toEqual([
    'A loaf of bread',
    'a hat on it',
  ]);
  expect(tree.getByRole('link', { current: true }).textContent).toBe('a hat on it');

  await userEvent.click(results().getByRole('link', { name: 'Edit again' }));
  await userEvent.type(prompt(), 'a red hat');
  api.next = editing({ id: 'e2' });
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  await waitFor(() => expect(asked()).toEqual([expect.objectContaining({ source_generation_id: 'e1' })]));
});

it('chooses a picture from the gallery', async () => {
  api.generations = [generated];
  await renderPage('/flux-kontext?prompt=a%20hat');
  await userEvent.click(await screen.findByRole('button', { name: 'From your gallery' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Choose a picture' }));
  await userEvent.click(await dialog.findByRole('button', { name: generated.prompt }));
  expect(screen.queryByRole('button', { name: 'From your gallery' })).toBeNull();
  api.next = editing({ id: 'e2' });
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  const named = { source_generation_id: 'g1', source_output_id: generated.outputs[0]?.id };
  await waitFor(() => expect(asked()).toEqual([expect.objectContaining(named)]));
});

it('a remix edits the same source again', async () => {
  api.generations = [edit({ source: { ...source, generation_id: 'g1' } }), generated];
  await renderPage('/flux-kontext?same_source_as=e1&prompt=a%20hat');
  expect(await screen.findByText('The previous source picture')).toBeTruthy();
  api.next = editing({ id: 'e2' });
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  await waitFor(() => expect(asked()).toEqual([expect.objectContaining({ source_generation_id: 'g1' })]));
});

it('edits the chosen one of several pictures', async () => {
  const [first] = generated.outputs;
  if (!first) throw new Error('nothing is generated');
  api.generations = [{ ...generated, outputs: [first, { ...first, id: 'o2', url: '/second.png' }] }];
  await renderPage(`/flux-kontext?source=${generated.id}&source_output=o2&prompt=a%20hat`);
  expect(await screen.findByText('From your gallery')).toBeTruthy();
  expect(document.querySelector('img[src="/second.png"]')).toBeTruthy();
  api.next = editing({ id: 'e2' });
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  const named = { source_generation_id: generated.id, source_output_id: 'o2' };
  await waitFor(() => expect(asked()).toEqual([expect.objectContaining(named)]));
});

const EMPTY = 'Your pictures appear here';

it.each([
  ['a generation it was not made from', '/flux-kontext?source=g2'],
  ['the source of another edit', '/flux-kontext?same_source_as=e0'],
  ['a picture for another model', '/flux-kontext?model=rye'],
])('does not show the last edit next to %s', async (_what, path) => {
  api.generations = [edit(), edit({ id: 'e0', prompt: 'no hat' }), generationOf({ id: 'g2' })];
  await renderPage(path);
  await screen.findByRole('link', { name: /^a hat on it/ });
  expect(await screen.findByText(EMPTY)).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Start over' })).toBeNull();
});

it.each([
  ['the picture it was made from', '/flux-kontext?source=g1'],
  ['its own result', '/flux-kontext?source=e1'],
  ['its source', '/flux-kontext?same_source_as=e1'],
])('shows the last edit next to %s', async (_what, path) => {
  api.generations = [edit({ source: { ...source, generation_id: 'g1' } }), generated];
  await renderPage(path);
  expect(await screen.findByRole('button', { name: 'Start over' })).toBeTruthy();
});

it('restores the uploaded picture, the prompt and the result on return', async () => {
  const router = await renderPage('/flux-kontext');
  api.next = edit();
  await fillAndGenerate();
  await screen.findByRole('slider', { name: 'Before and after' });
  expect(screen.getByText('bread.png')).toBeTruthy();
  await router.navigate({ href: '/paris' });
  await screen.findByRole('heading', { level: 1, name: /Paris/ });
  await router.navigate({ href: '/flux-kontext' });
  expect(await screen.findByText('The previous source picture')).toBeTruthy();
  expect(prompt().value).toBe('a hat on it');
  expect(await screen.findByRole('slider', { name: 'Before and after' })).toBeTruthy();
});
